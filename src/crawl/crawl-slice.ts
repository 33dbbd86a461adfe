import { version } from '../base/package-info.ts';
import { defineSlice, headerText, integer, list, type SliceValues } from '../config/field.ts';
import { fetchFields, targets } from '../web/fetch-fields.ts';

export const crawlSlice = defineSlice('crawl', 'Web sources', {
  userAgent: headerText({
    default: `Carrel/${version}`,
    env: ['FETCH_USER_AGENT'],
    description:
      'The User-Agent of crawls. Include contact details: `Carrel/1.0 (+mailto:web@example.org)`. The name before the slash selects the rules in robots.txt.',
  }),
  ownHosts: targets(
    list({
      default: [],
      env: ['FETCH_OWN_HOSTS'],
      description:
        'Your own hosts, as host, host:port or *.domain. They are crawled without pauses; other hosts get at most one request per second.',
    }),
  ),
  sourceBytesMax: integer({
    default: 1024 * 1024 * 1024,
    min: 1024 * 1024,
    max: 1024 ** 4,
    env: ['FETCH_SOURCE_BYTES_MAX'],
    description: 'Max bytes to download per run of a source.',
  }),
  sourceCpuMinutes: integer({
    default: 60,
    min: 1,
    max: 100_000,
    env: ['FETCH_SOURCE_CPU_MINUTES'],
    description: 'Max CPU time to parse the pages of one run, in minutes.',
  }),
  ...fetchFields,
});

export type CrawlSettings = SliceValues<typeof crawlSlice>;
