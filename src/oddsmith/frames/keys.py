"""Keys of segments as Python's own values, the same from every engine, and no two the same."""

import datetime
import zoneinfo
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from oddsmith import _check


def plain_keys(distinct: NDArray[Any], kind: nw.dtypes.DType, *, local: bool = False) -> list[Any]:
    """Return the distinct keys of a column.

    Moments are `datetime.datetime`, with their time zone where the column has one, and `pandas.Timestamp` where the
    column has digits beyond microseconds. ``local``: the zone is that of the session and goes without saying, as in
    Spark.
    """
    keys: list[Any] = distinct.tolist()
    if kind == nw.Date:
        keys = distinct.astype("datetime64[D]").tolist()
    elif distinct.dtype.kind == "M":
        keys = _moments(distinct, getattr(kind, "time_zone", None))
        keys = [key.replace(tzinfo=None) for key in keys] if local else keys
    elif all(hasattr(key, "to_datetime64") for key in keys):  # pandas, with a time zone
        keys = _moments(np.array([key.to_datetime64() for key in keys]), str(keys[0].tzinfo))
    return keys


def refuse_equal_keys(keys: list[Any]) -> None:
    """Refuse keys that a dictionary would take for one."""
    seen: set[Any] = set()
    for key in keys:
        if key in seen:
            _check.fail("keys must be different values", f"{key!r} twice", "cast the column to text in the frame first")
        seen.add(key)


def _moments(distinct: NDArray[Any], zone: str | None) -> list[Any]:
    """Return moments, which are times of UTC where there is a zone."""
    micro = distinct.astype("datetime64[us]")
    if np.array_equal(micro.astype(distinct.dtype), distinct):
        return [moment if zone is None else _in_zone(moment, zone) for moment in micro.tolist()]
    try:
        import pandas as pd
    except ImportError:
        _check.fail(
            "keys with digits beyond microseconds need pandas",
            f"{distinct[0]}",
            "install pandas, or cast the column in the frame first",
        )
    stamps = [pd.Timestamp(moment) for moment in distinct]
    return [stamp if zone is None else stamp.tz_localize("UTC").tz_convert(zone) for stamp in stamps]


def _in_zone(moment: datetime.datetime, zone: str) -> datetime.datetime:
    """Return a time of UTC as that of a zone."""
    moment = moment.replace(tzinfo=datetime.UTC)
    try:
        local = moment.astimezone(zoneinfo.ZoneInfo(zone))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return moment  # an offset, which is no zone; the moment is the same
    # Where clocks are put back, an hour is there twice, and Python takes its times for equal.
    if local.replace(fold=1 - local.fold).utcoffset() != local.utcoffset():
        return local.replace(tzinfo=datetime.timezone(local.utcoffset() or datetime.timedelta()), fold=0)
    return local
