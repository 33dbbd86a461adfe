import { defineSlice, optionalText, secret } from '../../config/field.ts';

/** Settings for `carrel serve`. `carrel fess` has the option `--config` instead of `configFile`. */
export const fessSlice = defineSlice('fess', 'Fess', {
  configFile: optionalText({
    env: ['CARREL_FESS_CONFIG'],
    isPath: true,
    description:
      "The Fess bridge's configuration file. Default: config.json in the first of ~/.mcp-feiss (the original bridge's folder), ~/mcp-feiss and ~/.mcp-fess that exists.",
  }),
  accessToken: secret({
    env: ['FESS_ACCESS_TOKEN'],
    description: 'The access token for Fess, sent to nobody else. Overrides fessAccessToken in the file.',
  }),
});
