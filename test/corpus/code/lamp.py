"""The lamp and its oil."""

from dataclasses import dataclass

TANK_LITRES = 920


@dataclass
class Lamp:
    """A lamp with a tank."""

    oil: float

    def light(self, hours: float) -> float:
        """Burns oil for so many hours and says how much is left."""
        used = hours * 1.5
        if used > self.oil:
            raise ValueError("not enough oil for the night")
        self.oil -= used
        return self.oil


def main() -> None:
    print(Lamp(TANK_LITRES).light(16))


if __name__ == "__main__":
    main()
