"""Files of invented content, packed the way the real ones are."""

import gzip
import io
import tarfile
import zipfile

import duckdb

from oddsmith_studies.data import find


def put(folder, path, raw):
    """Write a file below a data folder."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(raw.encode("latin-1") if isinstance(raw, str) else raw)
    return target


def gz(raw):
    return gzip.compress(raw.encode("latin-1") if isinstance(raw, str) else raw)


def tar(members, mode="w:gz"):
    """Return an archive of named texts, with the folders that hold them."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        folder = tarfile.TarInfo(next(iter(members)).split("/")[0] + "/")
        folder.type = tarfile.DIRTYPE
        if "/" in next(iter(members)):
            archive.addfile(folder)
        for name, raw in members.items():
            content = raw.encode("latin-1") if isinstance(raw, str) else raw
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def zipped(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)
    return packed.getvalue()


def parquet(path, columns, rows):
    """Write rows to a Parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    slots = ", ".join("?" for _ in columns)
    with duckdb.connect() as connection:
        kinds = ", ".join(
            f'"{column}" {"BIGINT" if isinstance(value, int) else "VARCHAR"}'
            for column, value in zip(columns, rows[0], strict=True)
        )
        connection.execute(f"create table t ({kinds})")
        connection.executemany(f"insert into t values ({slots})", rows)
        connection.execute(f"copy t to '{path}' (format parquet)")


def read(reader, name, folder):
    """Find a data set in a folder and read it without comparing counts."""
    return reader(find(name, folder))
