/**
 * What bundles leave out of the AWS SDK. What is left out throws an error that names it where it would be used; the rest
 * is the SDK's own code.
 */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Plugin } from 'esbuild';
import type { Area } from '../functions/areas.ts';
import { cutEndpointRules } from './endpoint-rules.ts';

/**
 * Leaves out the SDK's credential providers that a function never uses (profiles, SSO, processes) and the clients they
 * need, together a tenth of a bundle. The SDK imports each on demand; in the bundle that import fails.
 */
const ownCredentialsOnly: Plugin = {
  name: 'own-credentials-only',
  setup({ onResolve, onLoad }) {
    const foreign = /^@aws-sdk\/(credential-provider-(ini|login|process|sso|web-identity)|token-providers)$/;
    onResolve({ filter: foreign }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, namespace: 'foreign-credentials' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'foreign-credentials' }, ({ path }) => ({
      contents: `throw new Error('${path} is not part of this bundle: a function has the credentials of its role');`,
    }));
  },
};

/** Errors that the SDK retries by their class. */
const RETRYABLE = new Set(['ReplicatedWriteConflictException']);

/**
 * Leaves out the SDK's schemas of unused operations, which are most of S3's client. They are plain lists, but esbuild
 * cannot tree-shake them because of their computed keys. Errors with nothing but a message need no schema either: the
 * SDK creates them from their name and the response, as it does with all unknown errors.
 */
const schemasInUse: Plugin = {
  name: 'schemas-in-use',
  setup({ onLoad }) {
    const definition = /^((?:export )?(?:var|const) \w+\$? = )(\[[\s\S]*?\]);$/gm;
    const plainError =
      /^export var (\w+)\$ = \[-3, n0, \w+,\n {4}\{[^}]*\},\n {4}\[\w*\],\n {4}\[0?\]\n\];\nn0_registry\.registerError\(\1\$, \1\);$/gm;
    onLoad({ filter: /[\\/]@aws-sdk[\\/].*[\\/]schemas[\\/]schemas_0\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .replace(plainError, (all, name: string) => (RETRYABLE.has(name) ? all : ''))
        .replace(definition, '$1/* @__PURE__ */ (() => $2)();'),
    }));
  },
};

/** The SDK's clients read their version from package.json, which would be bundled as a whole. */
const versionsOnly: Plugin = {
  name: 'versions-only',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/]@aws-sdk[\\/].*[\\/]package\.json$/ }, ({ path }) => {
      const { name, version } = JSON.parse(readFileSync(path, 'utf8')) as { name: string; version: string };
      return { contents: JSON.stringify({ name, version }), loader: 'json' };
    });
  },
};

/**
 * Leaves out the rules for endpoints that no client of ours has, which are two thirds of S3's. The SDK's rules decide
 * about all others.
 */
const endpointsInUse: Plugin = {
  name: 'endpoints-in-use',
  setup({ onLoad }) {
    onLoad(
      { filter: /[\\/]@aws-sdk[\\/]client-(s3|dynamodb)[\\/]dist-es[\\/]endpoint[\\/]bdd\.js$/ },
      async ({ path }) => ({
        contents: await cutEndpointRules(readFileSync(path, 'utf8')),
      }),
    );
  },
};

/** The replaced file exports `name`, which throws when it is called, with `new` too. */
const absent = (name: string, what: string): string =>
  `export function ${name}() { throw new Error('${what} is not part of this bundle'); }`;

const CORE = '@smithy/core/dist-es/submodules';
const EXPRESS = '@aws-sdk/middleware-sdk-s3/dist-es/submodules/s3/middleware-s3-express';

/** Modules of the SDK that are replaced, and what each is replaced with. */
const REPLACED: Readonly<Record<string, string>> = {
  // Event streams are responses of unused operations only.
  [`${CORE}/event-streams/index.js`]: `export const eventStreamSerdeProvider = () => undefined;
export const resolveEventStreamSerdeConfig = (config) => config;
${absent('EventStreamSerde', 'reading streams of events')}`,

  // The table's client discovers no endpoints, but makes a cache for them.
  '@aws-sdk/endpoint-cache/dist-es/index.js': 'export class EndpointCache {}',

  // S3 Express and signatures for several regions: `endpointsInUse` refuses such buckets.
  [`${EXPRESS}/classes/S3ExpressIdentityProviderImpl.js`]: 'export class S3ExpressIdentityProviderImpl {}',
  [`${EXPRESS}/functions/s3ExpressMiddleware.js`]: `${absent('s3ExpressMiddleware', 'S3 Express')}
export const s3ExpressMiddlewareOptions = {};
export const getS3ExpressPlugin = () => ({ applyToStack() {} });`,
  [`${EXPRESS}/functions/s3ExpressHttpSigningMiddleware.js`]: `${absent('s3ExpressHttpSigningMiddleware', 'S3 Express')}
export const s3ExpressHttpSigningMiddlewareOptions = {};
export const getS3ExpressHttpSigningPlugin = () => ({ applyToStack() {} });`,
  '@aws-sdk/client-s3/dist-es/commands/CreateSessionCommand.js': absent('CreateSessionCommand', 'S3 Express'),
  '@aws-sdk/signature-v4-multi-region/dist-es/SignatureV4MultiRegion.js': `
import { SignatureV4 } from '@smithy/signature-v4';
export class SignatureV4MultiRegion extends SignatureV4 {
  static sigv4aDependency() { return 'none'; }
  async sign(request, options) { return super.sign(request, ofOneRegion(options)); }
  async presign(request, options) { return super.presign(request, ofOneRegion(options)); }
}
function ofOneRegion(options) {
  if (options?.signingRegion === '*') throw new Error('signing for several regions is not part of this bundle');
  return options;
}`,

  // Web streams are for browsers.
  [`${CORE}/serde/util-stream/sdk-stream-mixin.browser.js`]: absent('sdkStreamMixin', 'reading web streams'),
  [`${CORE}/serde/util-stream/checksum/createChecksumStream.browser.js`]: absent(
    'createChecksumStream',
    'reading web streams',
  ),

  // `lib/store/clients.ts` sets the retry mode.
  [`${CORE}/retry/util-retry/AdaptiveRetryStrategy.js`]: absent(
    'AdaptiveRetryStrategy',
    'the adaptive retry mode',
  ),

  // A function is configured by its environment. It has no configuration files, and no instance with metadata.
  [`${CORE}/config/shared-ini-file-loader/loadSharedConfigFiles.js`]: `export { CONFIG_PREFIX_SEPARATOR } from './constants';
export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });`,
  [`${CORE}/config/config-resolver/regionConfig/getInstanceMetadataRegion.js`]:
    'export const getInstanceMetadataRegion = async () => undefined;',
};

const replacedModules: Plugin = {
  name: 'replaced-modules',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/]@(aws-sdk|smithy)[\\/].*\.js$/ }, ({ path }) => {
      const [, inPackages] = path.match(/.*[\\/]node_modules[\\/](.*)$/)!;
      const contents = REPLACED[inPackages!.replaceAll('\\', '/')];
      return contents === undefined ? undefined : { contents, resolveDir: dirname(path) };
    });
    // The SDK's own MD5, SHA-1 and SHA-256 are for places where `node:crypto` has none.
    onLoad({ filter: /[\\/]checksums?[\\/].*[\\/](Md5|Sha1|Sha256)Js\.js$/ }, ({ path }) => ({
      contents: absent(path.match(/(\w+)\.js$/)![1]!, 'a hash without node:crypto'),
    }));
  },
};

/** Packages that call a service, and who may call it. */
const CALLERS: readonly {
  readonly names: RegExp;
  readonly service: string;
  readonly may: (area: Area) => boolean;
}[] = [
  {
    names: /^@aws-sdk\/(client-s3|s3-request-presigner)$/,
    service: 'the bucket',
    may: ({ rights }) => rights.objects !== undefined,
  },
  {
    names: /^@aws-sdk\/client-sqs$/,
    service: 'queues',
    // A worker postpones the messages of its own queue.
    may: ({ kind, rights }) =>
      kind === 'worker' || rights.sends !== undefined || rights.countsMessages === true,
  },
];

/**
 * Leaves out the clients of services that the function has no rights to. `lib/store/clients.ts` creates them for every
 * function: what stands for them can be created, and refuses every request, as AWS would.
 */
const clientsWithRights = (area: Area): Plugin => ({
  name: 'clients-with-rights',
  setup({ onResolve, onLoad }) {
    for (const { names, service, may } of CALLERS) {
      if (may(area)) continue;
      onResolve({ filter: names }, ({ path }) => ({ path, namespace: service }));
      onLoad({ filter: /.*/, namespace: service }, async ({ path }) => {
        const exported = Object.keys(await import(path)).filter((name) =>
          /^[A-Z]\w*(Client|Command)$/.test(name),
        );
        return {
          contents: `async function refused() { throw new Error('this function has no rights to ${service}'); }
class Client { send() { return refused(); } }
class Command {}
export { refused as getSignedUrl };
${exported.map((name) => `export { ${name.endsWith('Client') ? 'Client' : 'Command'} as ${name} };`).join('\n')}`,
        };
      });
    }
  },
});

export const sdkParts = (area: Area): Plugin[] => [
  clientsWithRights(area),
  ownCredentialsOnly,
  schemasInUse,
  endpointsInUse,
  versionsOnly,
  // The last one, because esbuild takes the first contents that a plugin returns.
  replacedModules,
];
