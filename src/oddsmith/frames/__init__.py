"""Score tables from any data frame or engine, and maps applied inside it: the rows stay where they are."""

from oddsmith.frames.applying import apply
from oddsmith.frames.bad_rows import BadRowPolicy as BadRowPolicy
from oddsmith.frames.bad_rows import BadRows as BadRows
from oddsmith.frames.bad_rows import CopyRowPolicy as CopyRowPolicy
from oddsmith.frames.building import tables_from_frame
from oddsmith.frames.building import tables_of as tables_of
from oddsmith.frames.crossings import Crossings as Crossings
from oddsmith.frames.crossings import value_of as value_of
from oddsmith.frames.engines.base import Extent as Extent
from oddsmith.frames.engines.duckdb import cell_expression as cell_expression
from oddsmith.frames.groups import Groups as Groups
from oddsmith.frames.groups import cell_variance as cell_variance
from oddsmith.frames.groups import refuse_many_groups as refuse_many_groups
from oddsmith.frames.groups import refuse_overflow as refuse_overflow
from oddsmith.frames.names import spare_name as spare_name
from oddsmith.frames.one_vs_rest import class_tables
from oddsmith.frames.queries import table_from_query as table_from_query
from oddsmith.frames.queries import table_query
from oddsmith.frames.resolution import settle as settle
from oddsmith.frames.sql_text import identifier as identifier
from oddsmith.frames.sql_text import sum_of as sum_of
from oddsmith.frames.sql_text import text_literal as text_literal

__all__ = ["apply", "class_tables", "table_query", "tables_from_frame"]
