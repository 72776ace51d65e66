# Numbers of R packages for rows that anyone can make again: Rscript clinical.R > clinical.csv
# Made with R 4.2.2 (loess) and its packages rms 6.5-0 (val.prob, rcs) and pROC 1.18.0 (roc.test, DeLong).
suppressMessages({library(rms); library(pROC)})
n <- 300
i <- seq_len(n)
odds <- round(4 * sin(i * 1.7) * cos(i * 0.31) - 1.2, 4)           # no random numbers
p <- round(plogis(odds), 6)
q <- round(plogis(0.5 * odds + 0.8 * sin(i * 0.9) + 0.3), 6)
y <- as.integer(plogis(0.7 * odds - 0.3) > ((i * 0.6180339887) %% 1))
s <- val.prob(p, y, pl = FALSE)
cat("name,value\n")
for (name in names(s)) cat(sprintf("%s,%.15g\n", name, s[[name]]))
a <- roc(y, p, quiet = TRUE, direction = "<"); b <- roc(y, q, quiet = TRUE, direction = "<")
t <- roc.test(a, b, method = "delong", paired = TRUE)
cat(sprintf("auc_p,%.15g\nauc_q,%.15g\ndelong_z,%.15g\ndelong_p,%.15g\n", auc(a), auc(b), t$statistic, t$p.value))
distances <- function(name, fitted, p) {
  gap <- abs(fitted - p)
  cat(sprintf("%s_%s,%.15g\n", name, c("ici", "e50", "e90", "emax"),
              c(mean(gap), median(gap), quantile(gap, 0.9), max(gap))), sep = "")
}
distances("loess", fitted(loess(y ~ p)), p)
distances("spline", plogis(lrm(y ~ rcs(qlogis(p), 5), tol = 1e-14, eps = 1e-12)$linear.predictors), p)
tied <- round(p, 2)                                                # 60 distinct values or so
distances("tied", fitted(loess(y ~ tied)), tied)
for (k in seq(1, n, 13)) cat(sprintf("row_%d,%.6f %.6f %d\n", k, p[k], q[k], y[k]))
