/** What the options of a push (`git push -o`) ask for. */
import { oneLine } from '../../git/wire/report.ts';

/** The merge requests of the branches that are pushed: `merge_request.<name>`. */
export interface MergeRequestOptions {
  /** Without it, the others change merge requests that are open. */
  readonly create?: boolean;
  readonly target?: string;
  /** Id or full path. */
  readonly targetProject?: string;
  readonly title?: string;
  readonly description?: string;
  /** Titles. */
  readonly label?: readonly string[];
  readonly unlabel?: readonly string[];
  /** Ids or names of users. */
  readonly assign?: readonly string[];
  readonly unassign?: readonly string[];
  /** A title. */
  readonly milestone?: string;
  readonly draft?: boolean;
  readonly mergeWhenPipelineSucceeds?: boolean;
  readonly removeSourceBranch?: boolean;
  readonly squash?: boolean;
}

export interface PushOptions {
  /** Undefined where no option is about merge requests. */
  readonly mergeRequest: MergeRequestOptions | undefined;
  readonly skipCi: boolean;
  readonly ciVariables: readonly { readonly key: string; readonly value: string }[];
  /** One line for each option that is not understood; the others hold. */
  readonly warnings: readonly string[];
}

type Kind = 'flag' | 'text' | 'texts';
type Name = keyof MergeRequestOptions;

const MERGE_REQUEST: Readonly<Record<string, readonly [Name, Kind]>> = {
  create: ['create', 'flag'],
  target: ['target', 'text'],
  target_project: ['targetProject', 'text'],
  title: ['title', 'text'],
  description: ['description', 'text'],
  label: ['label', 'texts'],
  unlabel: ['unlabel', 'texts'],
  assign: ['assign', 'texts'],
  unassign: ['unassign', 'texts'],
  milestone: ['milestone', 'text'],
  draft: ['draft', 'flag'],
  merge_when_pipeline_succeeds: ['mergeWhenPipelineSucceeds', 'flag'],
  auto_merge: ['mergeWhenPipelineSucceeds', 'flag'],
  remove_source_branch: ['removeSourceBranch', 'flag'],
  squash: ['squash', 'flag'],
};

/** Characters of an option that a warning repeats. */
const MAX_SHOWN = 60;

/**
 * Parses `merge_request.<name>[=<value>]` (`mr.` is short for it), `ci.skip` and `ci.variable=<key>=<value>`. Of an option
 * that has one value and is given twice, the last one holds.
 */
export function parsePushOptions(options: readonly string[]): PushOptions {
  const mergeRequest = new Map<Name, unknown>();
  const ciVariables: { key: string; value: string }[] = [];
  const warnings: string[] = [];
  let skipCi = false;
  for (const option of options) {
    const problem = read(option);
    if (problem !== undefined) warnings.push(`warning: push option '${shown(option)}' ${problem}`);
  }
  return {
    mergeRequest: mergeRequest.size === 0 ? undefined : Object.fromEntries(mergeRequest),
    skipCi,
    ciVariables,
    warnings,
  };

  /** @returns why it is not understood */
  function read(option: string): string | undefined {
    const [, area, name = '', equals, value = ''] =
      /^(merge_request|mr|ci)\.([a-z_]+)(?:(=)(.*))?$/s.exec(option) ?? [];
    if (area === 'ci') return readCi(name, value);
    const known = Object.hasOwn(MERGE_REQUEST, name) ? MERGE_REQUEST[name] : undefined;
    if (area === undefined || known === undefined) return 'is unknown';
    const [field, kind] = known;
    if (kind === 'flag') {
      const flag = equals === undefined ? 'true' : value.trim().toLowerCase();
      if (flag !== 'true' && flag !== 'false') return 'is either true or false';
      mergeRequest.set(field, flag === 'true');
      return undefined;
    }
    if (value.trim() === '') return 'needs a value';
    if (kind === 'text') mergeRequest.set(field, value.trim());
    else
      mergeRequest.set(field, [...((mergeRequest.get(field) as string[] | undefined) ?? []), value.trim()]);
    return undefined;
  }

  function readCi(name: string, value: string): string | undefined {
    if (name === 'skip') {
      skipCi = true;
      return undefined;
    }
    if (name !== 'variable') return 'is unknown';
    const [, key, text] = /^([A-Za-z0-9_]{1,255})=(.*)$/s.exec(value) ?? [];
    if (key === undefined || text === undefined) return 'is not of the form ci.variable=KEY=VALUE';
    ciVariables.push({ key, value: text });
    return undefined;
  }
}

function shown(option: string): string {
  const characters = [...oneLine(option)];
  return characters.length > MAX_SHOWN ? `${characters.slice(0, MAX_SHOWN).join('')}…` : characters.join('');
}
