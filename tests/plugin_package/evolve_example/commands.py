"""Commands of the package: `evolve greet`, and one among those of `evolve campaign`."""

import click


@click.command()
def greet() -> None:
    """Greet the user."""
    click.echo("hello")


@click.command()
@click.argument("name")
def greet_campaign(name: str) -> None:
    """Greet a campaign."""
    click.echo(f"hello {name}")
