"""Which batches stand for a whole corpus."""


def spread(count: int) -> list[int]:
    """All numbers below `count` in an order whose every beginning is spread evenly over them.

    Batches are sorted by length, and long ones cost more: so does a part of them stand for all.
    """
    bits = max(count - 1, 1).bit_length()
    reversed_bits = (int(f"{number:0{bits}b}"[::-1], 2) for number in range(2**bits))
    return [number for number in reversed_bits if number < count]
