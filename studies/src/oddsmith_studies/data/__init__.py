"""The data sets of the documents' studies: found, fetched, checked and loaded.

Nothing is shipped. A data set is looked for in a folder that you name, in that of the environment variable
``ODDSMITH_DATA``, and in the cache that `fetch` fills; each has one folder a data set. Counts are compared at load.
"""

from oddsmith_studies.data.adult import load_adult
from oddsmith_studies.data.checking import Check, check
from oddsmith_studies.data.cifar10 import load_cifar10_outputs
from oddsmith_studies.data.covertype import load_covertype
from oddsmith_studies.data.download import fetch
from oddsmith_studies.data.imdb import load_imdb
from oddsmith_studies.data.indian_pines import load_indian_pines
from oddsmith_studies.data.letter import load_letter
from oddsmith_studies.data.newsgroups import load_newsgroups
from oddsmith_studies.data.ohsumed import load_ohsumed
from oddsmith_studies.data.registry import Found, cache_folder, find, locate, source
from oddsmith_studies.data.reuters import load_reuters, load_reuters_ten
from oddsmith_studies.data.sentences import load_sentences
from oddsmith_studies.data.shapes import Corpus, LabelledRows
from oddsmith_studies.data.sources import SOURCES, File, Source
from oddsmith_studies.data.svmlight import load_a9a, load_phishing, load_web
from oddsmith_studies.data.tasks import BOOSTING_TASKS, BinaryTask, load_boosting_task
from oddsmith_studies.data.trec_ap import load_trec_ap
from oddsmith_studies.data.words import COURSE_STOP_WORDS, STOP_WORDS, WordCounts, best_words, count_words

__all__ = [
    "BOOSTING_TASKS",
    "COURSE_STOP_WORDS",
    "SOURCES",
    "STOP_WORDS",
    "BinaryTask",
    "Check",
    "Corpus",
    "File",
    "Found",
    "LabelledRows",
    "Source",
    "WordCounts",
    "best_words",
    "cache_folder",
    "check",
    "count_words",
    "fetch",
    "find",
    "load_a9a",
    "load_adult",
    "load_boosting_task",
    "load_cifar10_outputs",
    "load_covertype",
    "load_imdb",
    "load_indian_pines",
    "load_letter",
    "load_newsgroups",
    "load_ohsumed",
    "load_phishing",
    "load_reuters",
    "load_reuters_ten",
    "load_sentences",
    "load_trec_ap",
    "load_web",
    "locate",
    "source",
]
