def render(name):
    """Makes a page.

    ```python
    render("a")
    ```
    """
    return f"# {name}"
