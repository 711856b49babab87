"""Conversion of frozen, slotted dataclasses to plain JSON data and back: a field that has its default value is left out.

`decode(kind, encode(value)) == value`; an unknown field or a wrong type raises `ValueError`, so that a newer version's data is refused and never
misread. Both ways are made once per type and kept, for a replay decodes hundreds of thousands of events."""

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from operator import attrgetter
from typing import Any, Literal, NewType, TypeVar

T = TypeVar("T")
Step = Callable[[Any], Any]
_NONE = type(None)
_JSON: frozenset[type] = frozenset({str, int, float, bool, _NONE, list, dict})
_SCALARS: dict[Any, frozenset[type]] = {
    str: frozenset({str}),
    int: frozenset({int, bool}),
    float: frozenset({float}),
    bool: frozenset({bool}),
    _NONE: frozenset({_NONE}),
    Any: _JSON,
    object: _JSON,
}
_TAGGED: set[type] = set()


def tag_union_member(cls: type[T]) -> type[T]:
    """Marks a member of a union of dataclasses: its data carries the class name as `type`."""
    _TAGGED.add(cls)
    return cls


def encode(value: Any) -> Any:
    """Returns `value` (dataclass, mapping, tuple, enum or scalar) as plain JSON data."""
    kind: Any = type(value)
    return _encoder(kind)(value)


@functools.cache
def _encoder(kind: Any) -> Step:
    if dataclasses.is_dataclass(kind):
        return _dataclass_encoder(kind)
    if issubclass(kind, Enum):
        return attrgetter("value")
    if issubclass(kind, Mapping):
        return lambda value: {key: item if type(item) in _SCALARS else encode(item) for key, item in value.items()}
    if issubclass(kind, tuple | list):
        return lambda value: [item if type(item) in _SCALARS else encode(item) for item in value]
    return _same


def _dataclass_encoder(cls: Any) -> Step:
    fields = [(field.name, _default(field)) for field in dataclasses.fields(cls) if field.init]
    tag = {"type": cls.__name__} if cls in _TAGGED else {}

    def flatten(value: Any) -> dict[str, Any]:
        data = {}
        for name, default in fields:
            item = getattr(value, name)
            if item is not default and item != default:
                data[name] = item if type(item) in _SCALARS else encode(item)
        return data | tag

    return flatten


def _default(field: "dataclasses.Field[Any]") -> Any:
    """Returns the field's default value; where there is none, a mark that equals nothing."""
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def _same(value: Any) -> Any:
    return value


def decode(kind: type[T] | Any, data: Any) -> T:
    """Returns plain JSON data as a value of `kind`, a dataclass or a union of dataclasses; raises `ValueError` when it is none."""
    return typing.cast(T, decoder(typing.cast(Any, kind))(data))


@functools.cache
def decoder(kind: Any) -> Step:
    """Returns `decode` for one `kind`, to keep where much is decoded."""
    step, name = _decoder(kind), getattr(kind, "__name__", kind)

    def decode_checked(data: Any) -> Any:
        try:
            return step(data)
        except KeyError as error:
            raise ValueError(f"this is no {name}: {error} is not known") from error
        except (TypeError, AttributeError) as error:
            raise ValueError(f"this is no {name}: {error}") from error

    return decode_checked


@functools.cache
def _decoder(kind: Any) -> Step:
    """Returns a function from plain JSON data to a value of the annotation `kind`. What it raises, `decoder` makes a `ValueError`."""
    if dataclasses.is_dataclass(kind):
        return _dataclass_decoder(kind)
    if isinstance(kind, NewType):
        return _decoder(kind.__supertype__)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union_decoder(arguments)
    if origin is Literal:
        return {choice: choice for choice in arguments}.__getitem__
    return _class_decoder(kind, origin, arguments)


def _class_decoder(kind: Any, origin: Any, arguments: tuple[Any, ...]) -> Step:
    if kind in _SCALARS:
        return _scalar_decoder(kind)
    if origin is tuple:
        return _items_decoder(arguments[0])
    if origin is not None and issubclass(origin, Mapping):
        return _mapping_decoder(arguments[1])
    if issubclass(kind, Enum):
        return {member.value: member for member in kind}.__getitem__
    if issubclass(kind, dict):
        return typing.cast(Step, kind)
    raise ValueError(f"no JSON data is a {kind}: use dataclasses, mappings, tuples, enumerations and scalars")


@functools.cache
def _plain(kind: Any) -> frozenset[type]:
    """Returns the types of JSON data that are values of `kind` as they are."""
    # A set look-up instead of a call, for most fields are such.
    if isinstance(kind, NewType):
        return _plain(kind.__supertype__)
    if kind in _SCALARS:
        return _SCALARS[kind]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return frozenset[type]().union(*map(_plain, arguments))
    if isinstance(origin, type) and issubclass(origin, Mapping) and _plain(arguments[1]) == _JSON:
        return frozenset({dict})
    return frozenset()


def _scalar_decoder(kind: Any) -> Step:
    accepted = (int, float) if kind is float else tuple(_SCALARS[kind])
    name = "number" if kind is float else getattr(kind, "__name__", kind)
    convert: Step = float if kind is float else _same

    def check(data: Any) -> Any:
        if isinstance(data, accepted):
            return convert(data)
        raise TypeError(f"{data!r} is no {name}")

    return check


def _items_decoder(kind: Any) -> Step:
    plain, step = _plain(kind), _decoder(kind)

    def build(data: Any) -> tuple[Any, ...]:
        if type(data) is not list:
            raise TypeError(f"{data!r} is no list")
        return tuple([item if type(item) in plain else step(item) for item in data])

    return build


def _mapping_decoder(kind: Any) -> Step:
    plain, step = _plain(kind), _decoder(kind)
    return lambda data: {key: item if type(item) in plain else step(item) for key, item in data.items()}


def _dataclass_decoder(cls: Any) -> Step:
    fields = [field for field in dataclasses.fields(cls) if field.init]
    hints, new = typing.get_type_hints(cls), object.__new__
    # The constructor of a frozen dataclass looks each field up again to set it, and a replay makes millions of values: setting the slots
    # takes less than half of the time.
    put: dict[str, Callable[[Any, Any], None]] = {field.name: vars(cls)[field.name].__set__ for field in fields}
    ways = {name: (_plain(hints[name]), _decoder(hints[name]), put[name]) for name in put}
    if cls in _TAGGED:
        ways["type"] = (frozenset(), {cls.__name__: None}.__getitem__, lambda value, item: None)
    required = {field.name for field in fields if field.default is field.default_factory is dataclasses.MISSING}
    fixed = [(put[field.name], field.default) for field in fields if field.default is not dataclasses.MISSING]
    made = [(put[field.name], field.default_factory) for field in fields if callable(field.default_factory)]
    check = getattr(cls, "__post_init__", None)

    def build(data: Mapping[str, Any]) -> Any:
        value = new(cls)
        for set_field, default in fixed:
            set_field(value, default)
        for set_field, factory in made:
            set_field(value, factory())
        for name, item in data.items():
            plain, step, set_field = ways[name]
            set_field(value, item if type(item) in plain else step(item))
        if not required <= data.keys():
            raise TypeError(f"{', '.join(sorted(required - data.keys()))} is missing")
        if check is not None:
            check(value)
        return value

    return build


def _union_decoder(arguments: tuple[Any, ...]) -> Step:
    steps = {cls.__name__: _decoder(cls) for cls in arguments if cls in _TAGGED}
    if steps:
        return lambda data: None if data is None and _NONE in arguments else steps[data["type"]](data)
    first = next(kind for kind in arguments if kind is not _NONE)
    step, plain = _decoder(first), frozenset[type]().union(*map(_plain, arguments))
    return lambda data: data if type(data) in plain else step(data)
