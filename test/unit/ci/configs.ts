import { type Config, readConfig } from '../../../lib/ci/config.ts';
import { ConfigError } from '../../../lib/ci/errors.ts';
import { pathPattern } from '../../../lib/ci/glob.ts';
import type { Files, IncludeContext } from '../../../lib/ci/include.ts';
import { Matching } from '../../../lib/ci/matching.ts';
import { type Plan, planPipeline } from '../../../lib/ci/plan.ts';
import type { RefConditions } from '../../../lib/ci/rules.ts';

export const filesOf = (files: Readonly<Record<string, string>>): Files => ({
  read: async (path) => files[path],
  matching: async (glob) => {
    const pattern = await pathPattern(glob);
    return Object.keys(files)
      .filter((path) => pattern!.matches(path))
      .sort();
  },
});

export interface Given {
  readonly files?: Readonly<Record<string, string>>;
  readonly projects?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly remotes?: Readonly<Record<string, string>>;
  readonly templates?: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
  readonly changed?: readonly string[];
  readonly ref?: string;
  readonly isTag?: boolean;
  readonly source?: string;
}

export function contextOf(given: Given = {}): IncludeContext & RefConditions {
  const { ref = 'main', isTag = false, source = 'push' } = given;
  return {
    ref,
    isTag,
    source,
    projectPath: 'group/project',
    variables: new Map(Object.entries(given.variables ?? {})),
    changedPaths: async () => given.changed,
    matching: new Matching(),
    allPaths: async () => Object.keys(given.files ?? {}),
    files: filesOf(given.files ?? {}),
    project: async (path, at) => {
      const files = given.projects?.[at === undefined ? path : `${path}@${at}`];
      if (files === undefined) throw new ConfigError(`Project \`${path}\` not found or access denied!`);
      return filesOf(files);
    },
    remote: async (url) => {
      const text = given.remotes?.[url];
      if (text === undefined) throw new ConfigError(`Remote file \`${url}\` could not be fetched!`);
      return text;
    },
    template: async (name) => given.templates?.[name],
  };
}

export const configOf = (text: string, given?: Given): Promise<Config> => readConfig(text, contextOf(given));

export async function planOf(text: string, given: Given = {}): Promise<Plan> {
  const context = contextOf(given);
  return planPipeline(await readConfig(text, context), context);
}

/** What is wrong with a configuration. */
export async function problemsOf(text: string, given?: Given): Promise<readonly string[]> {
  try {
    await configOf(text, given);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.messages;
  }
}
