import type { GitRepository } from '../../git/repository.ts';
import { PatternError, type UserPattern, userPattern } from '../../regexp/user-pattern.ts';
import { blob } from '../repository/read.ts';
import { changelogFailure } from './failure.ts';
import { parseTemplate, type Template, TemplateError } from './template.ts';

/** The changelog configuration of a project. */
export interface ChangelogConfig {
  /** For `strftime`. */
  readonly dateFormat: string;
  readonly template: Template;
  /** Titles by value of the trailer, in display order. */
  readonly categories: ReadonlyMap<string, string>;
  /** Finds versions in tag names; undefined for the default, `v1.2.3` and `1.2.3`. */
  readonly tagPattern: UserPattern | undefined;
}

export const CONFIG_FILE = '.gitlab/changelog_config.yml';

const MAX_BYTES = 100_000;
const MAX_DATE_FORMAT = 200;

const DEFAULT_TEMPLATE = `{% if categories %}
{% each categories %}
### {{ title }} ({% if single_change %}1 change{% else %}{{ count }} changes{% end %})

{% each entries %}
- [{{ title }}]({{ commit.web_url }})\\
{% if author.credit %} by {{ author.reference }}{% end %}\\
{% if merge_request %} ([merge request]({{ merge_request.web_url }})){% end %}

{% end %}

{% end %}
{% else %}
No changes.
{% end %}
`;

/**
 * Reads the configuration from a file of the default branch; defaults without one.
 * @throws 422 with the reason for an invalid configuration
 */
export async function changelogConfig(git: GitRepository, path: string): Promise<ChangelogConfig> {
  const head = await git.resolve('HEAD');
  const entry = head && (await git.entryAt(head.commit, path));
  const data = entry?.type === 'blob' ? await blob(git, entry.id) : undefined;
  if (data !== undefined && data.length > MAX_BYTES)
    throw changelogFailure(`the configuration is larger than ${MAX_BYTES} bytes`);
  const settings = data === undefined ? {} : await parseYaml(Buffer.from(data).toString('utf8'));
  return {
    dateFormat: textSetting(settings, 'date_format', MAX_DATE_FORMAT) ?? '%Y-%m-%d',
    template: templateOf(textSetting(settings, 'template', MAX_BYTES) ?? DEFAULT_TEMPLATE),
    categories: categoriesOf(settings['categories']),
    tagPattern: await patternOf(textSetting(settings, 'tag_regex', MAX_BYTES)),
  };
}

type Settings = Readonly<Record<string, unknown>>;

async function parseYaml(text: string): Promise<Settings> {
  // Loaded on demand: few projects have such a file.
  const { loadAll, YAMLException } = await import('js-yaml');
  let value: unknown;
  try {
    // Of several documents the first counts; a file of comments has none.
    [value] = loadAll(text, { maxDepth: 20, maxAliases: 100, maxTotalMergeKeys: 1000 });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw changelogFailure(`the configuration is no valid YAML: ${error.reason}`);
  }
  if (value === null || value === undefined) return {};
  if (!isMap(value)) throw changelogFailure('the configuration must be a Hash');
  return value;
}

const isMap = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function textSetting(settings: Settings, name: string, maxLength: number): string | undefined {
  const value = Object.hasOwn(settings, name) ? settings[name] : undefined;
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || value.length > maxLength)
    throw changelogFailure(
      `The "${name}" configuration key must be a String of at most ${maxLength} characters`,
    );
  return value;
}

function templateOf(text: string): Template {
  try {
    return parseTemplate(text);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw changelogFailure(`Failed to parse the template: ${error.message}`);
  }
}

function categoriesOf(value: unknown): ReadonlyMap<string, string> {
  if (value === undefined || value === null) return new Map();
  if (!isMap(value)) throw changelogFailure('The "categories" configuration key must be a Hash');
  const titles = new Map<string, string>();
  for (const [category, title] of Object.entries(value)) {
    if (title === null) continue;
    if (typeof title === 'object') throw changelogFailure('The titles of "categories" must be Strings');
    titles.set(category, String(title));
  }
  return titles;
}

async function patternOf(source: string | undefined): Promise<UserPattern | undefined> {
  if (source === undefined) return undefined;
  try {
    return await userPattern(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw changelogFailure(
      `The regular expression to use for finding the previous tag for a version is invalid: ${error.message}`,
    );
  }
}
