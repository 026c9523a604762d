/** Files that a configuration includes: https://docs.gitlab.com/ee/ci/yaml/includes.html */
import { inTurns } from '../git/work.ts';
import { rules } from './entries/conditions.ts';
import { isText, isTexts, Problems } from './entries/problems.ts';
import { ConfigError } from './errors.ts';
import { isGlob } from './glob.ts';
import { type Conditions, firstRule } from './rules.ts';
import { expand } from './variables.ts';
import { parseYaml } from './yaml/parse.ts';
import { Copies, deepMerge, type Hash, hashOf, isHash, valueAt } from './yaml/values.ts';

/** The files of one commit of one project. */
export interface Files {
  /** The content of a file; undefined for one that there is not. @param path without a slash in front */
  read(path: string): Promise<string | undefined>;
  /** Paths that fit a pattern, in order; as many as may be included. */
  matching(glob: string): Promise<readonly string[]>;
}

/** Where included files come from. Each may throw {@link ConfigError} with what is wrong. */
export interface IncludeContext extends Conditions {
  readonly files: Files;
  /** @throws ConfigError for a project or ref that there is not, as for one that the author may not read */
  project(path: string, ref: string | undefined): Promise<Files>;
  remote(url: string): Promise<string>;
  /** @param name such as `Bash.gitlab-ci.yml`; undefined: there is none */
  template(name: string): Promise<string | undefined>;
  /** A file that a job of the pipeline left that starts this one; absent where none does. */
  readonly artifact?: ((job: string, path: string) => Promise<string>) | undefined;
}

/** Files of one configuration, each as often as it is included. */
export const MAX_INCLUDED = 100;

interface Included {
  readonly text: string;
  /** For errors. */
  readonly name: string;
  /** What `local` in it means. */
  readonly files: Files;
}

const ACCESSORS = ['local', 'project', 'remote', 'template', 'artifact'] as const;

/**
 * Merges what a configuration includes with it: later files over earlier ones, and its own entries over all of them.
 * @throws ConfigError
 */
export async function includeFiles(config: Hash, context: IncludeContext): Promise<Hash> {
  let count = 0;
  const copies = new Copies();
  const expanded = async (hash: Hash, files: Files): Promise<Hash> => {
    if (!Object.hasOwn(hash, 'include')) return hash;
    const own = hashOf(Object.entries(hash).filter(([key]) => key !== 'include'));
    let merged: Hash = {};
    for (const entry of entriesOf(valueAt(hash, 'include'))) {
      if (!(await isWanted(entry, context))) continue;
      for (const file of await filesOf(entry, files, context)) {
        // Circles end here too.
        if (++count > MAX_INCLUDED)
          throw new ConfigError(`Maximum of ${MAX_INCLUDED} nested includes are allowed!`);
        const included = await expanded(await parsed(file), file.files);
        merged = await inTurns(deepMerge(merged, included, copies));
      }
    }
    return inTurns(deepMerge(merged, own, copies));
  };
  return expanded(config, context.files);
}

function entriesOf(given: unknown): readonly Hash[] {
  if (given == null) return [];
  return (Array.isArray(given) ? given.flat(10) : [given]).map((entry) => {
    if (isText(entry)) return { [/^https?:\/\//i.test(entry) ? 'remote' : 'local']: entry };
    if (isHash(entry)) return entry;
    throw new ConfigError('include config should be a hash or a string');
  });
}

async function isWanted(entry: Hash, context: IncludeContext): Promise<boolean> {
  const given = valueAt(entry, 'rules');
  if (given == null) return true;
  const problems = new Problems();
  const list = rules(['always', 'never'])(given, 'include:rules', problems);
  if (list === undefined || problems.messages.length > 0) throw new ConfigError(...problems.messages);
  const rule = await firstRule(list, context);
  return rule !== undefined && rule.when !== 'never';
}

async function filesOf(entry: Hash, files: Files, context: IncludeContext): Promise<readonly Included[]> {
  const accessors = ACCESSORS.filter((key) => entry[key] != null);
  if (accessors.length !== 1 || !Object.keys(entry).every((key) => isKnown(key)))
    throw new ConfigError(`Include \`${JSON.stringify(entry)}\` needs to match exactly one accessor!`);
  const textAt = (key: string): string => {
    const value = entry[key];
    if (!isText(value)) throw new ConfigError(`Included ${key} should be a string`);
    return expand(value, context.variables);
  };
  switch (accessors[0]!) {
    case 'local':
      return localFiles(textAt('local'), files);
    case 'project': {
      const path = textAt('project');
      const given = valueAt(entry, 'file');
      const names = isText(given) ? [given] : given;
      if (!isTexts(names) || names.length === 0)
        throw new ConfigError(`Project \`${path}\` file needs to be specified!`);
      const ref = entry['ref'] == null ? undefined : textAt('ref');
      const theirs = await context.project(path, ref);
      return Promise.all(
        names.map(async (name) => {
          const file = expand(name, context.variables);
          const text = await readFile(theirs, file, `Project \`${path}\` file \`${file}\``);
          return { text, name: file, files: theirs };
        }),
      );
    }
    case 'remote': {
      const url = textAt('remote');
      requireYamlName(url.replace(/[?#].*/s, ''), `Remote file \`${url}\``);
      return [{ text: await context.remote(url), name: url, files: NO_FILES }];
    }
    case 'template': {
      const name = textAt('template');
      const text = name.endsWith('.gitlab-ci.yml') ? await context.template(name) : undefined;
      if (text === undefined) throw new ConfigError(`Template file \`${name}\` is not a valid location!`);
      return [{ text, name, files: NO_FILES }];
    }
    case 'artifact': {
      const path = textAt('artifact');
      requireYamlName(path, `Included file \`${path}\``);
      if (context.artifact === undefined)
        throw new ConfigError(
          'Including configs from artifacts is only allowed when triggering child pipelines',
        );
      if (entry['job'] == null)
        throw new ConfigError('Job must be provided when including configs from artifacts');
      const text = await context.artifact(textAt('job'), path);
      if (text.trim() === '') throw new ConfigError(`File \`${path}\` is empty!`);
      return [{ text, name: path, files: context.files }];
    }
  }
}

const isKnown = (key: string): boolean =>
  [...ACCESSORS, 'file', 'ref', 'rules', 'job', 'inputs'].includes(key);

/** What a remote file or a template includes is no file of a project. */
const NO_FILES: Files = { read: async () => undefined, matching: async () => [] };

async function localFiles(path: string, files: Files): Promise<readonly Included[]> {
  const told = `Local file \`${path}\``;
  if (!isGlob(path)) return [{ text: await readFile(files, path, told), name: path, files }];
  const names = await files.matching(path.replace(/^\/+/, ''));
  if (names.length === 0) throw new ConfigError(`${told} does not exist!`);
  return Promise.all(
    names
      .slice(0, MAX_INCLUDED + 1)
      .map(async (name) => ({ text: await readFile(files, name, `Local file \`${name}\``), name, files })),
  );
}

async function readFile(files: Files, path: string, told: string): Promise<string> {
  requireYamlName(path, told.startsWith('Project') ? `Included file \`${path}\`` : told);
  const text = await files.read(path.replace(/^\/+/, ''));
  if (text === undefined) throw new ConfigError(`${told} does not exist!`);
  if (text.trim() === '') throw new ConfigError(`${told} is empty!`);
  return text;
}

function requireYamlName(path: string, told: string): void {
  if (!/\.ya?ml$/i.test(path)) throw new ConfigError(`${told} does not have YAML extension!`);
}

async function parsed({ text, name }: Included): Promise<Hash> {
  try {
    return await parseYaml(text);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(`Included file \`${name}\` does not have valid YAML syntax!`);
  }
}
