import { defineSlice, optionalText, secret } from '../../config/field.ts';

/** Settings for `carrel serve`. `carrel fess` has the option `--config` instead of `configFile`. */
export const fessSlice = defineSlice('fess', 'Fess', {
  configFile: optionalText({
    env: ['CARREL_FESS_CONFIG'],
    isPath: true,
    description:
      "The configuration file of the Fess bridge. By default, config.json in the first of these folders that exists: ~/.mcp-feiss (the original bridge's), ~/mcp-feiss, ~/.mcp-fess.",
  }),
  accessToken: secret({
    env: ['FESS_ACCESS_TOKEN'],
    description:
      'The access token for Fess. It is sent only to the Fess server. Overrides fessAccessToken in the file.',
  }),
});
