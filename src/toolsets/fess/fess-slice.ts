import { defineSlice, optionalText, secret } from '../../config/field.ts';

/** For `carrel serve`; `carrel fess` takes `--config`. */
export const fessSlice = defineSlice('fess', 'Fess', {
  configFile: optionalText({
    env: ['CARREL_FESS_CONFIG'],
    isPath: true,
    description:
      'The configuration file of the bridge to Fess. Default: config.json in ~/.mcp-feiss, ~/mcp-feiss or ~/.mcp-fess, whichever exists first.',
  }),
  accessToken: secret({
    env: ['FESS_ACCESS_TOKEN'],
    description:
      'The access token that the bridge sends to Fess, and to nobody else. Overrides fessAccessToken in its file.',
  }),
});
