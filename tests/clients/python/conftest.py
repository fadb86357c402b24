"""Which scripts apply to what stands behind the address, and the clients that they use."""

import anthropic
import openai
import pytest

import world


def pytest_configure(config):
    config.addinivalue_line("markers", "behind(*kinds): what must stand behind the address")


def pytest_collection_modifyitems(config, items):
    """Leaves out what does not apply. Without a mark a script wants the stand-in upstream, which does as it is told."""
    kept = [item for item in items if applies(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def applies(item):
    mark = item.get_closest_marker("behind")
    kinds = set(mark.args) if mark else {"direct", "openai", "compat", "anthropic"}
    if "punk" in kinds:
        kinds |= {"openai", "compat", "anthropic", "mock"}
    return world.BEHIND in kinds


@pytest.fixture(scope="session")
def chat():
    """OpenAI's client, which does not try again by itself: what Punk does must be seen."""
    return openai.OpenAI(base_url=f"{world.URL}/v1", api_key=world.OPENAI_KEY, max_retries=0, timeout=30)


@pytest.fixture(scope="session")
def claude():
    """Anthropic's client, likewise."""
    return anthropic.Anthropic(base_url=world.URL, api_key=world.ANTHROPIC_KEY, max_retries=0, timeout=30)


@pytest.fixture
def recovery():
    """Good answers once the script is over."""
    yield
    if world.PUNK and world.UPSTREAM:
        world.recover()
