/** Languages of a project: bytes by language, which is derived from file names as in Linguist. */
import type { AttributeName, AttributeState } from '../../git/archive/attributes.ts';
import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { LANGUAGES } from './language-table.ts';

/** Number of languages stored for a project, the largest ones. */
const MAX_LANGUAGES = 5;

/**
 * Returns the percentages of at most five languages with two decimals, the largest first. Vendored and generated files
 * and documentation are excluded; `linguist-*` attributes take precedence.
 * @throws LimitExceeded for a tree that is too large, ObjectMissing
 */
export async function languagesOf(git: GitRepository, commit: Oid): Promise<Record<string, number>> {
  const bytes = new Map<string, number>();
  let total = 0;
  const isCounted = ({ path, attributes }: Named) => languageOf(path, attributes) !== undefined;
  for await (const { path, attributes, size } of git.fileSizes(commit, ATTRIBUTES, isCounted)) {
    const language = languageOf(path, attributes)!;
    bytes.set(language, (bytes.get(language) ?? 0) + size);
    total += size;
  }
  const largest = [...bytes].filter(([, size]) => size > 0).toSorted(([, a], [, b]) => b - a);
  return Object.fromEntries(
    largest.slice(0, MAX_LANGUAGES).map(([name, size]) => [name, Math.round((size / total) * 10_000) / 100]),
  );
}

interface Named {
  readonly path: string;
  readonly attributes: Attributes;
}
type Attributes = ReadonlyMap<AttributeName, AttributeState>;

const ATTRIBUTES: readonly AttributeName[] = [
  'linguist-vendored',
  'linguist-generated',
  'linguist-documentation',
  'linguist-detectable',
  'linguist-language',
];

/** The language of a file; undefined if it is not counted. */
export function languageOf(path: string, attributes: Attributes = new Map()): string | undefined {
  const attribute = (name: AttributeName): boolean | undefined => {
    const state = attributes.get(name) ?? undefined;
    return state === undefined ? undefined : state !== false && state !== 'false';
  };
  if (attribute('linguist-vendored') ?? VENDORED.some((pattern) => pattern.test(path))) return undefined;
  if (attribute('linguist-generated') ?? GENERATED.some((pattern) => pattern.test(path))) return undefined;
  if (attribute('linguist-documentation') ?? DOCUMENTATION.some((pattern) => pattern.test(path)))
    return undefined;
  if (attribute('linguist-detectable') === false) return undefined;
  const chosen = attributes.get('linguist-language');
  if (typeof chosen === 'string') return byFolded().get(foldedName(chosen));
  const name = path.slice(path.lastIndexOf('/') + 1);
  return byName().get(name) ?? byExtension(name);
}

/** By the longest known extension: `a.b.c` may match `.b.c`. */
function byExtension(name: string): string | undefined {
  const folded = name.toLowerCase();
  for (let dot = folded.indexOf('.'); dot >= 0; dot = folded.indexOf('.', dot + 1)) {
    const language = extensions().get(folded.slice(dot + 1));
    if (language !== undefined) return language;
  }
  return undefined;
}

/** The form in attributes: lower case, `-` for spaces. */
const foldedName = (name: string): string => name.toLowerCase().replaceAll(' ', '-');

interface Tables {
  readonly extensions: ReadonlyMap<string, string>;
  readonly names: ReadonlyMap<string, string>;
  readonly folded: ReadonlyMap<string, string>;
}
let tables: Tables | undefined;

function read(): Tables {
  if (tables !== undefined) return tables;
  const extensions = new Map<string, string>();
  const names = new Map<string, string>();
  const folded = new Map<string, string>();
  for (const line of LANGUAGES.trim().split('\n')) {
    const [language = '', rest = ''] = line.split(/: (.*)/);
    const [last = '', whole = ''] = rest.split('|');
    folded.set(foldedName(language), language);
    for (const extension of last.trim().split(' ').filter(Boolean)) extensions.set(extension, language);
    for (const name of whole.trim().split(' ').filter(Boolean)) names.set(name, language);
  }
  tables = { extensions, names, folded };
  return tables;
}
const extensions = () => read().extensions;
const byName = () => read().names;
const byFolded = () => read().folded;

/** Third-party code in the repository. */
const VENDORED: readonly RegExp[] = [
  /(^|\/)(vendors?|third[-_]?party|3rd[-_]?party|externals?|extern|node_modules|bower_components|Godeps|Carthage|Pods)\//i,
  /(^|\/)(deps|dist|cache|\.yarn|\.vscode|\.github|\.gitpod|\.idea|\.mvn|\.teamcity|\.obsidian)\//,
  /(^|\/)(jquery|bootstrap|angular|react(-dom)?|d3|mootools|prototype|modernizr|raphael|ckeditor|tiny_mce|codemirror|ace-builds|fontawesome|font-awesome|normalize|foundation|extjs|dojo|yui|MathJax|select2|html5shiv|sprockets)([.-][^/]*)?\.(js|css|less|scss|styl)$/i,
  /(\.|-)min\.(js|css)$/,
  /(^|\/)(gradlew(\.bat)?|mvnw(\.cmd)?|configure|config\.(guess|sub)|ltmain\.sh|aclocal\.m4|libtool\.m4|depcomp|missing|compile|install-sh|waf)$/,
  /(^|\/)(gradle\/wrapper|cordova-[\d.]+|admin_media|wwwroot\/lib|sparkle|testdata|fixtures)\//i,
  /\.d\.ts$/,
];

/** Generated files. */
const GENERATED: readonly RegExp[] = [
  /(^|\/)(Gopkg\.lock|glide\.lock|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|composer\.lock|Cargo\.lock|Pipfile\.lock|poetry\.lock|esy\.lock|\.pnp\..*)$/,
  /(^|\/)__generated__\//,
  /\.(nib|xcworkspacedata|xcuserstate|designer\.(cs|vb)|feature\.cs|js\.map|css\.map)$/i,
  /(\.pb\.(go|cc|h|rb)|_pb2(_grpc)?\.py|_pb\.(js|rb)|\.pb\.swift|\.g\.dart|\.freezed\.dart|_generated\.go|\.generated\.[a-z]+)$/,
];

const DOCUMENTATION: readonly RegExp[] = [
  /^[Dd]ocs?\//,
  /(^|\/)([Dd]ocumentation|[Gg]roovydoc|[Jj]avadoc|[Mm]an|[Ee]xamples|[Dd]emos?|inst\/doc)\//,
  /(^|\/)(CHANGE(S|LOG)?|CONTRIBUTING|COPYING|INSTALL|LICEN[CS]E|README|readme)(\.|$)/,
  /(^|\/)[Rr]eadme(\.|$)/,
  /(^|\/)[Ss]amples?\//,
];
