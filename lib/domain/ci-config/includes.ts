import { ConfigError } from '../../ci/errors.ts';
import { pathPattern } from '../../ci/glob.ts';
import { type Files, type IncludeContext, MAX_INCLUDED } from '../../ci/include.ts';
import { Matching } from '../../ci/matching.ts';
import type { Conditions, RefConditions } from '../../ci/rules.ts';
import type { Variables } from '../../ci/variables.ts';
import { MAX_FILE_BYTES } from '../../ci/yaml/parse.ts';
import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { locateProject } from '../access/locate.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { codeOf } from '../repository/read.ts';
import { PIPELINE_TEMPLATES } from '../templates/files.ts';
import { remoteFiles } from './remote-files.ts';

/** Paths of a commit that patterns are compared with. */
const MAX_PATHS = 10_000;
const PAGE = 1000;

/** The files of a commit. */
export function filesOf(git: GitRepository, commit: Oid): Files {
  return {
    read: async (path) => {
      const entry = await git.entryAt(commit, path);
      if (entry?.type !== 'blob') return undefined;
      const header = await git.blobHeader(entry.id);
      if (header !== undefined && header.size > MAX_FILE_BYTES)
        throw new ConfigError(`The file \`${path}\` is larger than ${MAX_FILE_BYTES} bytes`);
      const data = await git.readBlob(entry.id);
      return data && new TextDecoder().decode(data);
    },
    matching: async (glob) => {
      const pattern = await pathPattern(glob);
      const found: string[] = [];
      for await (const path of pathsOf(git, commit)) {
        if (pattern?.matches(path)) found.push(path);
        if (found.length > MAX_INCLUDED) break;
      }
      return found;
    },
  };
}

/** Paths of the files of a commit, in order; the first {@link MAX_PATHS}. */
async function* pathsOf(git: GitRepository, commit: Oid): AsyncGenerator<string> {
  let after: string | undefined;
  let seen = 0;
  do {
    const listing = { recursive: true, limit: PAGE, countUpTo: 0, ...(after === undefined ? {} : { after }) };
    const page = await git.listTree(commit, listing);
    for (const { type, path } of page?.entries ?? []) if (type === 'blob') yield path;
    seen += page?.entries.length ?? 0;
    after = page?.next;
  } while (after !== undefined && seen < MAX_PATHS);
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** What a configuration is read for. */
export interface ConfigSource {
  readonly git: GitRepository;
  readonly commit: Oid;
  readonly variables: Variables;
}

/** Included files come from the commit, from projects whose code the actor may read, and from the templates there are. */
export function includesOf(
  deps: Deps,
  actor: Actor,
  { git, commit, variables }: ConfigSource,
): IncludeContext {
  let paths: Promise<readonly string[]> | undefined;
  return {
    variables,
    matching: new Matching(),
    changedPaths: async () => undefined,
    // Read once, however many rules ask.
    allPaths: () => (paths ??= allOf(pathsOf(git, commit))),
    files: filesOf(git, commit),
    ...elsewhere(deps, actor),
  };
}

/** Included files where there is no project. */
export function includesWithoutProject(deps: Deps, actor: Actor): IncludeContext {
  return {
    variables: new Map(),
    matching: new Matching(),
    changedPaths: async () => undefined,
    allPaths: async () => [],
    files: { read: async () => undefined, matching: async () => [] },
    ...elsewhere(deps, actor),
  };
}

/** The conditions of a pipeline that a push to a branch would start. */
export const pushConditions = (
  conditions: Conditions,
  { project }: ProjectAccess,
  branch: string,
): RefConditions => ({
  ...conditions,
  ref: branch,
  isTag: false,
  source: 'push',
  projectPath: project.fullPath,
});

/** What a configuration includes that is no file of its own project. */
export function elsewhere(deps: Deps, actor: Actor): Pick<IncludeContext, 'project' | 'remote' | 'template'> {
  return {
    project: async (path, ref) => {
      const located = path.includes('/') ? await locateProject(deps, path) : undefined;
      const [access] = located === undefined ? [] : await projectAccesses(deps, actor, [located.id]);
      // The same for a project that is hidden as for one that there is not.
      if (access === undefined || !can(actor, access, 'read_code'))
        throw new ConfigError(
          `Project \`${path}\` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.`,
        );
      const git = codeOf(deps, access);
      const found = await git.resolve(ref ?? 'HEAD');
      if (found === undefined)
        throw new ConfigError(`Project \`${path}\` reference \`${ref ?? 'HEAD'}\` does not exist!`);
      return filesOf(git, found.commit);
    },
    remote: remoteFiles(deps, actor),
    template: async (name) => {
      const key = name.slice(0, -'.gitlab-ci.yml'.length);
      return PIPELINE_TEMPLATES.find((template) => template.name === key)?.content;
    },
  };
}
