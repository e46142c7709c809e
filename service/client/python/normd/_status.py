"""Reads google.rpc.Status details without generated code.

A program may have its own copy of google/rpc/*.proto loaded, and protobuf refuses a second one, so
the few fields that matter are read from the wire here.
"""

_BAD_REQUEST = b"type.googleapis.com/google.rpc.BadRequest"
_ERROR_INFO = b"type.googleapis.com/google.rpc.ErrorInfo"


def _varint(data, position):
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 63:
            raise ValueError("a varint of more than ten bytes")


def _fields(data):
    """Yields (number, bytes) of each length-delimited field and skips all others."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        wire_type = tag & 7
        if wire_type == 2:
            length, position = _varint(data, position)
            if position + length > len(data):
                raise ValueError("a field beyond the end")
            yield tag >> 3, data[position : position + length]
            position += length
        elif wire_type == 0:
            _, position = _varint(data, position)
        elif wire_type in (1, 5):
            position += 8 if wire_type == 1 else 4
        else:
            raise ValueError("an unknown wire type")


def _text(fields, number):
    return fields.get(number, b"").decode("utf-8", "replace")


def parse_status_details(data):
    """Returns ([(field, description), ...], reason); what does not parse is left out."""
    violations, reason = [], ""
    try:
        for number, detail in _fields(data):
            if number != 3:
                continue
            packed = dict(_fields(detail))
            if packed.get(1) == _BAD_REQUEST:
                for _, violation in _fields(packed.get(2, b"")):
                    fields = dict(_fields(violation))
                    violations.append((_text(fields, 1), _text(fields, 2)))
            elif packed.get(1) == _ERROR_INFO:
                reason = _text(dict(_fields(packed.get(2, b""))), 1)
    except (IndexError, ValueError):
        pass
    return violations, reason
