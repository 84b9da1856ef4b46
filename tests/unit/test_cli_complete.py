"""Shell completion at Tab: existing commands, and cached names."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from functools import cache as cache_once
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from gwtui.cli import commands, complete
from gwtui.cli.commands import COMMANDS, load, plain_tree
from gwtui.cli.complete import TypedLine, answer_shell, known_tree, quoted, split
from gwtui.cli.main import main
from gwtui.cli.shell import SCRIPTS
from gwtui.client.connection import Connection
from gwtui.local.name_cache import cache_file, read_names, write_names
from gwtui.resources.keys.resource import KEYS as KEYS  # noqa: PLC0414 - a list that was read
from gwtui.resources.known_names import store_read_names
from gwtui.resources.registry import COMMAND_RESOURCES
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.reads import FeedKey
from resource_samples import HOSTILE, key

if TYPE_CHECKING:
    from gwtui.watch.hub import FeedHub

NAMES = ("ci", "film storyboard test", "partner:birch", "o'neill $HOME `x`")

BUILT = cache_once(plain_tree)
"""Built once for all tests: it takes a second."""


@pytest.fixture
def cache(private_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cached names of the default profile, called work."""
    complete._paths.cache_clear()
    monkeypatch.setattr(commands, "plain_tree", BUILT)
    config = private_home / "config" / "gwtui"
    config.mkdir(parents=True, mode=0o700)
    text = 'default = "work"\n[profiles.work]\nbase_url = "https://a.example"\n[profiles.lab]\n'
    (config / "profiles.toml").write_text(text)
    monkeypatch.delenv("GWTUI_PROFILE", raising=False)
    folder = private_home / "cache" / "gwtui"
    write_names(cache_file(folder, "work"), {"keys": NAMES, "keys by id": ["ab" * 32]})
    write_names(cache_file(folder, "demo"), {"workspaces": ["Production"]})
    return folder


def offered(*words: str) -> list[str]:
    return [word for word, _ in TypedLine(known_tree(), words).candidates()]


def test_every_command_and_verb_is_offered(cache: Path) -> None:
    assert {*COMMANDS, *COMMAND_RESOURCES} <= set(offered(""))
    for name in COMMAND_RESOURCES:
        assert offered(name, "") == [verb.name for verb in load(name).verbs]
    assert offered("fin") == ["findings"]
    assert offered("--prof") == ["--profile"]
    assert offered("gateway", "s") == ["serve"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("keys", "get", ""), list(NAMES)),
        (("keys", "get", "aba"), ["ab" * 32]),
        (("keys", "disable", "ci", "fi"), ["film storyboard test"]),
        (("keys", "get", "ci", ""), []),
        (("--read-only", "keys", "get", "c"), ["ci"]),
        (("keys", "get", "--demo", ""), []),
        (("keys", "get", "--profile", "lab", ""), []),
        (("keys", "get", "--profile=work", "c"), ["ci"]),
        (("members", "list", "--demo", ""), ["Production"]),
        (("keys", "list", "--demo", "--workspace", "P"), ["Production"]),
        (("keys", "list", "--profile", ""), ["work", "lab"]),
        (("profiles", "default", "l"), ["lab"]),
        (("keys", "list", "--output", ""), ["table", "json", "ndjson", "csv"]),
        (("keys", "list", "--output=c"), ["--output=csv"]),
        (("keys", "list", "--columns", "name,us"), ["name,used"]),
        (("keys", "list", "--sort", "expi"), ["expires"]),
        (("keys", "list", "--filter", "sta"), ["state:"]),
        (("keys", "update", "ci", "--set", "limit"), ["limit=", "limit_reset="]),
        (("keys", "update", "ci", "--unset", "limit_"), ["limit_reset"]),
        (("findings", "--fail-on", ""), ["critical", "warning", "notice"]),
        (("config", "set", "them"), ["theme"]),
        (("alerts", "te"), ["test"]),
        (("guardrails", "assign", "x", "--key", "ci"), ["ci"]),
        (("nonsense", "nonsense", ""), []),
    ],
)
def test_completion_offers_the_next_words(
    cache: Path, words: tuple[str, ...], expected: list[str]
) -> None:
    assert offered(*words) == expected


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("try", "chat", "--file", ""), 1),
        (("try", "chat", "--file=na"), 1),
        (("try", "chat", "--file", "na"), 1),
        (("keys", "disable", "--filter", ""), 0),
        (("keys", "disable", ""), 0),
    ],
)
def test_the_shell_completes_files_where_one_is_named(
    cache: Path, words: tuple[str, ...], code: int
) -> None:
    assert main(["complete", "zsh", *words]) == code


def test_the_command_line_is_built_once_and_again_for_another_version(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = offered("keys", "li")
    file = cache / "commands.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with monkeypatch.context() as patch:
        patch.setattr(commands, "plain_tree", None)
        assert offered("keys", "li") == first  # not built again
        cached = json.loads(file.read_text())
        file.write_text(json.dumps({**cached, "version": "0.0"}))
        with pytest.raises(TypeError):
            offered("keys", "li")
    for damaged in ("", "[]", "{", '{"version": 1}'):
        file.write_text(damaged)
        assert offered("keys", "li") == first


def test_names_are_kept_without_what_a_terminal_could_not_show(tmp_path: Path) -> None:
    path = cache_file(tmp_path / "cache", "../../etc/passwd")
    assert path.parent == tmp_path / "cache"
    write_names(path, {"keys": ["ci", HOSTILE, "x" * 300, None, "ci", ""], "models": ["a/b"]})
    write_names(path, {"keys": ["new"]})
    assert read_names(path) == {"keys": ["new"], "models": ["a/b"]}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for damaged in (b"", b"[]", b"\xff", b'{"v":1}', b'{"v":1,"names":[1]}', b'{"v":2,"names":{}}'):
        path.write_bytes(damaged)
        assert read_names(path) == {}
    path.write_bytes(b'{"v":1,"names":{"keys":[1,"ok",null]}}')
    assert read_names(path) == {"keys": ["ok"]}
    (tmp_path / "file").touch()
    write_names(tmp_path / "file" / "names.json", {"keys": ["x"]})  # never raises


def test_complete_lists_leave_their_names_for_completion(private_home: Path) -> None:
    rows = (KeyRow(key(name="ci", label="gw-...1")), KeyRow(key(name=HOSTILE, hash="b" * 64)))
    lists = {"keys": rows, "workspaces": None}

    def feed(of: FeedKey[Any], *_: Any, **__: Any) -> Any:
        return SimpleNamespace(state=SimpleNamespace(value=lists.get(of.name)))

    connection = Connection("https://a.example", label="work")
    store_read_names(cast("FeedHub", SimpleNamespace(connection=connection, feed=feed)))
    result = read_names(cache_file(private_home / "cache" / "gwtui", "work"))
    assert result["keys"][:2] == ["ci", "gw-...1"]
    assert all(name.isprintable() for name in result["keys"])
    assert result["keys by id"] == ["a" * 64, "b" * 64]
    # Nothing is cached for a gateway without a name.
    nameless = SimpleNamespace(connection=Connection("https://a.example"), feed=feed)
    store_read_names(cast("FeedHub", nameless))
    assert len([*(private_home / "cache" / "gwtui").iterdir()]) == 1


def test_completion_imports_no_heavy_modules(cache: Path) -> None:
    offered("keys", "")  # the command line is built before
    program = (
        "import sys\n"
        "from gwtui.cli.main import main\n"
        "main(['complete', 'zsh', 'keys', 'get', 'c'])\n"
        "print(sorted({'textual', 'httpx', 'pydantic', 'asyncio', 'logging'} & set(sys.modules)))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout == "ci\n[]\n"


def test_completion_prints_only_words_on_errors(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["complete", "zsh", "keys", "get", "c"]) == 0
    assert main(["complete", "fish", "keys", "ge"]) == 0
    assert main(["complete", "fish", "keys", "get", '"film s']) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("ci\nget\tprint all fields of one key\nfilm storyboard test\n", "")
    monkeypatch.setattr(complete, "known_tree", None)
    for words in ([], ["bash"], ["bash", "x", "y"], ["zsh"], ["zsh", "keys", ""]):
        assert answer_shell(words) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("line", "words", "quote"),
    [
        ("gwtui keys ", ["gwtui", "keys", ""], ""),
        ("gwtui  'a b' c", ["gwtui", "a b", "c"], ""),
        (r"gwtui a\ b", ["gwtui", "a b"], ""),
        ('gwtui "a \\" b', ["gwtui", 'a " b'], '"'),
        ("gwtui 'a b", ["gwtui", "a b"], "'"),
        ("", [""], ""),
    ],
)
def test_a_line_is_read_as_a_shell_reads_it(line: str, words: list[str], quote: str) -> None:
    assert split(line) == (words, quote)


def test_bash_offers_and_quotes_names(cache: Path, private_home: Path) -> None:
    """In a real shell: the completed word means the same name."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    offered("keys", "")  # built in advance, so that the shell does not wait
    lines = [
        "gwtui keys get fil",
        "gwtui keys get partner:b",
        'gwtui keys get "film s',
        "gwtui keys get o",
        "gwtui keys list --output=cs",
        "gwtui keys get film\\ ",
    ]
    calls = "\n".join(
        f"COMP_LINE={quoted(line)}; COMP_POINT=${{#COMP_LINE}}; _gwtui; "
        'printf "%s|" "${COMPREPLY[@]}"; echo'
        for line in lines
    )
    program = f'gwtui() {{ "{sys.executable}" -m gwtui "$@"; }}\n{SCRIPTS["bash"]}\n{calls}'
    shell_run = subprocess.run([bash, "-c", program], capture_output=True, text=True, check=True)
    assert shell_run.stdout.splitlines() == [
        r"film\ storyboard\ test|",
        "birch|",
        "film storyboard test|",
        r"o\'neill\ \$HOME\ \`x\`|",
        "csv|",
        r"film\ storyboard\ test|",
    ]
    assert shell_run.stderr == ""
    for shell in ("zsh", "fish"):
        if result := shutil.which(shell):
            subprocess.run([result, "-n"], input=SCRIPTS[shell], text=True, check=True)
