import { CarrelError } from '../../base/errors.ts';
import { cleanText } from '../../documents/text/clean-text.ts';
import type { DomainSettings, FessSettings } from './fess-config.ts';

/** A knowledge domain: the documents with one Fess label. It has its own tools and URIs. */
export interface KnowledgeDomain {
  /** Id, name and description are the configured texts without invisible characters. */
  id: string;
  name: string;
  description: string;
  labelFilter: string;
  /** The id as it appears in tool names and URIs. */
  slug: string;
  /** Description of the domain, at the end of every tool description. Hosts often show models nothing else. */
  block: string;
}

/** Max characters of a slug. Tool names have at most 64; the longest is `fess_<slug>_popular_words`. */
const slugCharsMax = 64 - 'fess__popular_words'.length;

export function readDomains(file: string, { domain, domains = [] }: FessSettings): KnowledgeDomain[] {
  const all = [
    ...(domain ? [{ path: 'domain', settings: domain }] : []),
    ...domains.map((settings, index) => ({ path: `domains[${index}]`, settings })),
  ];
  if (all.length === 0) {
    throw configError(
      file,
      'domain is missing: it must be an object with id, name and labelFilter. For several domains, set domains to a list of them',
    );
  }
  const paths = new Map<string, string>();
  return all.map(({ path, settings }) => {
    const slug = slugOf(visibleText(settings.id));
    if (slug.length > slugCharsMax) {
      throw configError(file, `${path}.id must be at most ${slugCharsMax} characters, because tool names contain it`);
    }
    const otherPath = paths.get(slug);
    if (otherPath !== undefined) {
      throw configError(
        file,
        `${path}.id and ${otherPath}.id result in the same tool name, fess_${slug}_search. Change one of them`,
      );
    }
    paths.set(slug, path);
    return toKnowledgeDomain(settings, slug);
  });
}

/**
 * Removes characters that could hide text from people but not from models: invisible and bidirectional control characters,
 * and letters that render as nothing.
 */
export function visibleText(text: string): string {
  return cleanText(text).replaceAll(/[\u115f\u1160\u17b4\u17b5\u3164\uffa0]/g, '');
}

/** Returns the domain as shown in `serverInfo` and the capabilities. */
export function domainInfo({ id, name, description, labelFilter }: KnowledgeDomain): Record<string, string> {
  return { id, name, description, labelFilter };
}

function slugOf(id: string): string {
  return id.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_');
}

function toKnowledgeDomain(settings: DomainSettings, slug: string): KnowledgeDomain {
  const { labelFilter } = settings;
  const [id, name] = [visibleLine(settings.id), visibleLine(settings.name)];
  const description = visibleText(settings.description ?? '');
  const block = [
    '[Knowledge Domain]',
    `id: ${id}`,
    `name: ${name}`,
    `description: ${visibleLine(description)}`,
    `fessLabel: ${labelFilter}`,
  ].join('\n');
  return { id, name, description, labelFilter, slug, block };
}

/** Returns the visible text on one line, so that it can't add lines to the block. */
export function visibleLine(text: string): string {
  return visibleText(text.replaceAll(/\s*[\p{Cc}\u2028\u2029]+\s*/gu, ' ')).trim();
}

function configError(file: string, problem: string): CarrelError {
  return new CarrelError('invalid_config', `${file}: ${problem}.`);
}
