"""The paper's statements, tested: the section that leads the page."""
