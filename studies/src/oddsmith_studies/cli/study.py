"""``oddsmith study``: the documents' experiments, one command each."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from oddsmith.cli.plugin import AsJson, CommandOutput, Quiet, print_text


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: oddsmith study course-project --quick")(study)


def study(
    name: Annotated[
        str,
        typer.Argument(help="Name of the study; 'list' lists them, 'index' writes the index of all results in --out."),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="The same code on less data, in about a minute.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an earlier run that was stopped.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes.")] = 1,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of the data. [default: ODDSMITH_DATA, or the cache]")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write to. [default: ./NAME]")] = None,
    seed: Annotated[int, typer.Option("--seed")] = 0,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Write the page again from the results in the folder, computing nothing.")
    ] = False,
    judge: Annotated[
        bool,
        typer.Option("--judge", help="Compute only what the verdicts rest on; tables of the results in --out stay."),
    ] = False,
    draws: Annotated[
        int, typer.Option("--draws", help="With --judge: with how many seeds, from --seed on; all are judged together.")
    ] = 1,
    grid: Annotated[str, typer.Option("--grid", help="What to search; 'list' says what a study has.")] = "default",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a study: our tables next to the published ones, a verdict on each claim, figures and a page."""
    from oddsmith_studies import studies

    output = CommandOutput(quiet=quiet, as_json=as_json)
    if name == "list":
        _list(output)
        return
    if name == "index":
        written = [str(path) for path in studies.write_index(out or Path())]
        output.result({"written": written}, lambda console: print_text(console, f"Written to {written[0]}"))
        return
    folder = out or Path(name)
    if rewrite:
        written = [str(path) for path in studies.rewrite(name, folder)]
        output.result({"written": written}, lambda console: print_text(console, f"Written to {folder}/index.html"))
        return
    if judge:
        with output.progress(name) as progress:
            written = [
                str(path)
                for path in studies.judge_again(
                    name,
                    folder,
                    resume=resume,
                    jobs=jobs,
                    data=data,
                    seed=seed,
                    draws=draws,
                    progress=lambda state: progress(state.share),
                )
            ]
        output.result({"written": written}, lambda console: print_text(console, f"Written to {folder}/index.html"))
        return
    with output.progress(name) as progress:
        result = studies.run(
            name,
            quick=quick,
            resume=resume,
            jobs=jobs,
            data=data,
            out=folder,
            seed=seed,
            grid=grid,
            progress=lambda state: progress(state.share),
        )

    def show(console: Console) -> None:
        from rich.markdown import Markdown

        for table in result.tables:
            console.print(Markdown(table.to_markdown()))
        verdicts = Table("claim", "tested on", "verdict", "rule")
        for claim in result.claims:
            verdicts.add_row(f"{claim.id} {claim.text}", claim.data, claim.verdict, claim.reason)
        console.print(verdicts)
        print_text(console, f"Written to {folder}/index.html")

    output.result(result.to_dict(), show)


def _list(output: CommandOutput) -> None:
    from oddsmith_studies import studies

    found = studies.list()

    def show(console: Console) -> None:
        table = Table("study", "what", "data", "grids")
        for one in found:
            table.add_row(one.name, one.title, ", ".join(one.data), ", ".join(one.grids))
        console.print(table)

    content = {one.name: {"title": one.title, "data": list(one.data), "grids": list(one.grids)} for one in found}
    output.result({"studies": content}, show)
