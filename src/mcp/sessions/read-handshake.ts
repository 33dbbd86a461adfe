import { isObject } from '../../base/json.ts';

type Params = Record<string, unknown>;

/** Validates `initialize` and fills in fields that clients often omit. Returns an error message if it is invalid. */
export function readHandshake(params: Params = {}): Params | string {
  const { protocolVersion, capabilities = {}, clientInfo } = params;
  if (typeof protocolVersion !== 'string') return 'protocolVersion must be a string such as "2025-11-25".';
  if (typeof capabilities !== 'object' || capabilities === null) return 'capabilities must be an object.';
  if (clientInfo !== undefined && (typeof clientInfo !== 'object' || clientInfo === null)) {
    return 'clientInfo must be an object with name and version.';
  }
  const client = { name: 'unknown', version: '0', ...clientInfo };
  if (!areCapabilities(capabilities) || !isClient(client)) return 'capabilities or clientInfo is malformed.';
  return { ...params, capabilities, clientInfo: client };
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isListOf =
  (item: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(item);
/** Checks that a value is an object, and that its listed members, if present, are valid. */
const isObjectWith =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) &&
    Object.entries(members).every(([name, check]) => !Object.hasOwn(value, name) || check(value[name]));
const areObjects: Check = (value) => isObject(value) && Object.values(value).every(isObject);

/** Checks capabilities by the specification's schema. Unknown members may be anything. */
const areCapabilities = isObjectWith({
  experimental: areObjects,
  extensions: areObjects,
  sampling: isObjectWith({ context: isObject, tools: isObject }),
  elicitation: isObjectWith({ form: isObjectWith({ applyDefaults: isFlag }), url: isObject }),
  roots: isObjectWith({ listChanged: isFlag }),
  tasks: isObjectWith({
    list: isObject,
    cancel: isObject,
    requests: isObjectWith({
      sampling: isObjectWith({ createMessage: isObject }),
      elicitation: isObjectWith({ create: isObject }),
    }),
  }),
});

const isIcon = (value: unknown): boolean =>
  isObject(value) &&
  isText(value['src']) &&
  isObjectWith({ mimeType: isText, sizes: isListOf(isText), theme: (theme) => theme === 'light' || theme === 'dark' })(
    value,
  );

const isClient = isObjectWith({
  name: isText,
  version: isText,
  title: isText,
  websiteUrl: isText,
  description: isText,
  icons: isListOf(isIcon),
});
