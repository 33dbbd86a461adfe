import { defineSlice, optionalText } from '../../config/field.ts';

/** For `carrel serve`; `carrel fess` takes `--config`. */
export const fessSlice = defineSlice('fess', 'Fess', {
  configFile: optionalText({
    env: ['CARREL_FESS_CONFIG'],
    description:
      'The configuration file of the bridge to Fess. Without it the usual places are looked at: config.json in ~/.mcp-feiss, ~/mcp-feiss, ~/.mcp-fess.',
  }),
});
