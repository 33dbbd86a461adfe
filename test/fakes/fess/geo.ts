import type { FakeDocument } from './fake-document.ts';

export class BadGeoError extends Error {}

/** Returns a filter by distance. Like a stock Fess, uses only the geo field `location`, and ignores a point without a distance. */
export function geoFilter(params: URLSearchParams): (document: FakeDocument) => boolean {
  const points = params.getAll('geo.location.point');
  const distance = params.get('geo.location.distance');
  if (points.length === 0 || distance === null) return () => true;
  const centres = points.map(parsePoint);
  const metresMax = parseDistance(distance);
  return ({ location }) => location !== undefined && centres.some((centre) => metres(centre, location) <= metresMax);
}

type Point = NonNullable<FakeDocument['location']>;

function parsePoint(text: string): Point {
  const [latitude, longitude, ...rest] = text.split(',').map(Number);
  if (latitude === undefined || longitude === undefined || rest.length > 0 || Number.isNaN(latitude + longitude)) {
    throw new BadGeoError(text);
  }
  return { latitude, longitude };
}

const metresOfUnits: Record<string, number> = { m: 1, km: 1000, mi: 1609.344 };
const earthRadiusMetres = 6_371_000;

function parseDistance(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(km|m|mi)?$/.exec(text) ?? [];
  if (amount === undefined) throw new BadGeoError(text);
  return Number(amount) * (metresOfUnits[unit ?? 'm'] ?? 1);
}

function metres(a: Point, b: Point): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const latitude = radians(b.latitude - a.latitude);
  const longitude = radians(b.longitude - a.longitude);
  const h =
    Math.sin(latitude / 2) ** 2 +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(longitude / 2) ** 2;
  return 2 * earthRadiusMetres * Math.asin(Math.sqrt(h));
}
