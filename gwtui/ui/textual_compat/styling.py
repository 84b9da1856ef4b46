"""What a style sheet says of a widget, found out once for all widgets of its kind, place and state.

Textual goes through hundreds of rules for each widget that is made, gets the keys, or is in what
does: a tenth of the processor time of a form that opens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

from textual.css.match import _check_selectors
from textual.css.model import CombinatorType, RuleSet, Selector
from textual.css.styles import RulesMap, Styles
from textual.css.stylesheet import _DEFAULT_STYLES, Stylesheet
from textual.dom import DOMNode

_MOST_PLACES = 4000
"""Nodes, by their place and state, that are told apart."""
_ORDER = frozenset({"first-of-type", "last-of-type", "first-child", "last-child", "empty"})

_Values = dict[str, list[tuple[tuple[int, ...], object]]]
"""What several rules say of one thing, with how much each of them counts."""
_MatchedRules = tuple[tuple[RuleSet, tuple[int, int, int]], ...]
"""Rules that are for a node, with the specificity of what selects it."""


class _Candidates(NamedTuple):
    """The rules that may be for a node of certain names, and the states that they ask for."""

    rules: tuple[RuleSet, ...]
    states: frozenset[str]
    """Every pseudo-class in one of the rules."""
    own: tuple[str, ...]
    """Those asked of the node itself."""
    outer: tuple[str, ...]
    """Those asked of the nodes that it is in."""


class Sheet:
    """What was found out about the rules of a style sheet."""

    def __init__(self, stylesheet: Stylesheet) -> None:
        self.names = frozenset(stylesheet.rules_map)
        self.candidates: dict[frozenset[str], _Candidates] = {}
        self.places: dict[object, int] = {}
        """A number for each place: the number of the one around it, and what is asked of a node."""
        self.styles: dict[int, RulesMap] = {}
        """By the number of the place."""
        self.values: dict[_MatchedRules, RulesMap] = {}
        """Places for which the same rules count share one."""
        self.selected = frozenset(selector.name for selector in _selectors(stylesheet.rules))
        """The classes, identifiers and types that a selector names."""


def _selectors(rules: Iterable[RuleSet]) -> Iterator[Selector]:
    for rule in rules:
        for selector_set in rule.selector_set:
            yield from selector_set.selectors


_sheets: WeakKeyDictionary[Stylesheet, tuple[object, Sheet]] = WeakKeyDictionary()
"""With the map of the rules that it was made for: another one comes with each change."""


def _sheet(stylesheet: Stylesheet) -> Sheet:
    rules_map = stylesheet.rules_map
    made_for, sheet = _sheets.get(stylesheet, (None, None))
    if sheet is None or made_for is not rules_map:
        sheet = Sheet(stylesheet)
        _sheets[stylesheet] = rules_map, sheet
    return sheet


def _apply(
    stylesheet: Stylesheet,
    node: DOMNode,
    *,
    animate: bool = False,
    cache: dict[tuple[Any, ...], RulesMap] | None = None,  # noqa: ARG001 - for one update only
) -> None:
    """Give a node the styles that the rules have for it."""
    sheet = _sheet(stylesheet)
    names = sheet.names & node._selector_names
    candidates = sheet.candidates.get(names)
    if candidates is None:
        candidates = sheet.candidates[names] = _candidates(stylesheet, names)
    states = candidates.states
    node._has_hover_style = "hover" in states
    node._has_focus_within = "focus-within" in states
    node._has_order_style = not states.isdisjoint(_ORDER)
    node._has_odd_or_even = "odd" in states or "even" in states
    path = node.css_path_nodes
    place = _place(sheet, names, candidates, path)
    styles = sheet.styles.get(place)
    if styles is None:
        matching = tuple(_matching(candidates.rules, path))
        styles = sheet.values.get(matching)
        if styles is None:
            styles = sheet.values[matching] = _as_held(_styles(matching))
        sheet.styles[place] = styles
    if styles:
        stylesheet.replace_rules(node, styles, animate=animate)
    stylesheet._process_component_classes(node)


def _candidates(stylesheet: Stylesheet, names: frozenset[str]) -> _Candidates:
    limit = {rule for name in names for rule in stylesheet.rules_map[name]}
    rules = tuple(rule for rule in reversed(stylesheet.rules) if rule in limit)
    own: set[str] = set()
    outer: set[str] = set()
    for rule in rules:
        for selector_set in rule.selector_set:
            asked = own
            for selector in reversed(selector_set.selectors):
                asked.update(selector.pseudo_classes)
                # The one before stands for the same node, or for one around it.
                if selector.combinator is not CombinatorType.SAME:
                    asked = outer
    return _Candidates(rules, frozenset(own | outer), tuple(own), tuple(outer))


def _place(
    sheet: Sheet, names: frozenset[str], candidates: _Candidates, path: list[DOMNode]
) -> int:
    """The number of all that decides which of the candidates are for the last node of a path."""
    places, selected = sheet.places, sheet.selected
    if len(places) >= _MOST_PLACES:
        for kept in (places, sheet.styles, sheet.values):
            kept.clear()
    place = places.setdefault(names, len(places))
    asked, last = candidates.outer, path[-1]
    for node in path:
        key = (
            place,
            node._css_type_names,
            node._id if node._id in selected else None,
            selected.intersection(node._classes) if node._classes else None,
            *map(node.has_pseudo_class, candidates.own if node is last else asked),
        )
        place = places.setdefault(key, len(places))
    return place


def _styles(matching: _MatchedRules) -> RulesMap:
    """The value of everything that rules say of a node, as Textual weighs them.

    A rule that says ``initial`` has None for a value: what is meant is the value of the default
    rules, and in one of these that of the others.
    """
    found: _Values = {}
    initial: dict[bool, set[str]] = {False: set(), True: set()}
    for rule, weight in matching:
        default = rule.is_default_rules
        for name, weighed, value in rule.styles.extract_rules(weight, default, rule.tie_breaker):
            found.setdefault(name, []).append((weighed, value))
            if value is None:
                initial[default].add(name)
    values = {name: _heaviest(said) for name, said in found.items()}
    for name in initial[False]:
        if values[name] is None:
            defaults = [one for one in found[name] if not one[0][0]]
            if defaults:
                values[name] = _heaviest(defaults)
            else:
                initial[True].add(name)
    for name in initial[True]:
        if values[name] is None:
            others = [one for one in found[name] if one[0][0]]
            values[name] = _heaviest(others) if others else getattr(_DEFAULT_STYLES, name)
    return cast("RulesMap", values)


def _as_held(values: RulesMap) -> RulesMap:
    """The same as a node holds it: to set a value may turn it into another form."""
    holder = Styles()
    for name, value in values.items():
        setattr(holder, name, value)
    return holder._rules


def _matching(
    rules: Iterable[RuleSet], path: list[DOMNode]
) -> Iterator[tuple[RuleSet, tuple[int, int, int]]]:
    """The rules for the last node of a path, with the specificity of what selects it."""
    for rule in rules:
        for selector_set in rule.selector_set:
            if _check_selectors(selector_set.selectors, path):
                yield rule, selector_set.specificity


def _heaviest(said: list[tuple[tuple[int, ...], object]]) -> object:
    return max(said, key=lambda one: one[0])[1]


def read_default_styles(stylesheet: Stylesheet, kinds: Iterable[type[DOMNode]]) -> None:
    """Read what these kinds of widgets look like by themselves.

    Textual does it as the first one of a kind is mounted, and each time all styles are found out
    anew.
    """
    for kind in kinds:
        unmade = kind.__new__(kind)  # only its class is asked
        for read_from, css, tie_breaker, scope in unmade._get_default_css():
            stylesheet.add_source(
                css, read_from=read_from, is_default_css=True, tie_breaker=tie_breaker, scope=scope
            )
    _sheet(stylesheet)


_own_apply, _own_replace = Stylesheet.apply, Stylesheet.replace_rules


def _replace(node: DOMNode, rules: RulesMap, animate: bool = False) -> None:
    """Set what changes. Textual sets everything again, and each time finds that nothing changed."""
    if animate and "transitions" in rules:
        _own_replace(node, rules, animate=True)
        return
    base = node.styles.base
    held: Any = base._rules
    if not held and not node._is_mounted:  # nobody is to be told of a change
        held.update(rules)
        base._updates += 1
    else:
        for name in held.keys() | rules.keys():
            value = rules.get(name)
            if value is None or value != held.get(name):
                setattr(base, name, value)
    node.notify_style_update()


def install() -> None:
    """Style every app of this process so."""
    # Rules are looked for in sets. Textual's own method gives what every object has by itself.
    RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]
    for name, method in (("apply", _apply), ("replace_rules", staticmethod(_replace))):
        setattr(Stylesheet, name, method)
