"""Where the learners of version 0.1 are: every import from here fails with their new place."""

msg = "oddsmith.learners is now oddsmith_studies.learners, in the distribution oddsmith-studies"
raise ImportError(msg)
