import { defineSlice, optionalText, secret } from '../../config/field.ts';

/** For `carrel serve`; `carrel fess` takes `--config`. */
export const fessSlice = defineSlice('fess', 'Fess', {
  configFile: optionalText({
    env: ['CARREL_FESS_CONFIG'],
    description:
      'The configuration file of the bridge to Fess. Without it the usual places are looked at: config.json in ~/.mcp-feiss, ~/mcp-feiss, ~/.mcp-fess.',
  }),
  accessToken: secret({
    env: ['FESS_ACCESS_TOKEN'],
    description:
      'The access token that the bridge sends to Fess, and to nobody else. Wins over fessAccessToken in its file.',
  }),
});
