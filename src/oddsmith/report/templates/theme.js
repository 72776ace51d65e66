"use strict";
(function () {
  const root = document.documentElement;
  const button = document.getElementById("theme");

  // Light and dark: as the system has it, until the button says otherwise.
  const preferred = window.matchMedia("(prefers-color-scheme: dark)");
  function dress(dark) {
    root.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-label", dark ? "Use light colors" : "Use dark colors");
  }
  dress(preferred.matches);
  preferred.addEventListener("change", (event) => dress(event.matches));
  button.addEventListener("click", () => dress(root.dataset.theme !== "dark"));
  button.hidden = false;
})();
