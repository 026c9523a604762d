/**
 * A project that was moved under other groups: labels and milestones of groups that it left become its own, as far as
 * its issues have them, its issues lose epics and iterations of these groups, and enter the lists of the new top-level
 * group.
 */

import type { EpicRecord } from '../../records/epics.ts';
import type { IterationRecord } from '../../records/iterations.ts';
import type { Container, LabelRecord } from '../../records/labels.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { AlreadyExists, LimitReached } from '../../store/errors.ts';
import type { Deps } from '../deps.ts';
import { above, sameContainer, withAbove } from '../labels/containers.ts';
import { rootOf } from '../tracked/related.ts';
import { type Following, follow } from './follow.ts';

export interface Settling {
  readonly projectId: number;
  /** Where an earlier run stopped: a step, and the value or the row to go on after. */
  readonly from?: { readonly step: Step; readonly after?: number | string | undefined } | undefined;
}

export const STEPS = [
  ...(['labels', 'milestones', 'epics', 'iterations'] as const),
  ...(['list', 'label', 'milestone', 'word'] as const),
] as const;
export type Step = (typeof STEPS)[number];

/** What issues have of groups above their project. */
const FACETS = {
  labels: 'label',
  milestones: 'milestone',
  epics: 'epic',
  iterations: 'iteration',
} as const;
type Kept = keyof typeof FACETS;
export type Relisted = Exclude<Step, Kept>;

/** How records of one kind settle. */
export interface SettlingKind {
  readonly steps: readonly Step[];
  /** Returns the next value that records of a project have. */
  nextValue(
    projectId: number,
    facet: (typeof FACETS)[Kept],
    after: number | undefined,
  ): Promise<number | undefined>;
  follow(following: Following, deadline: number): Promise<Following | undefined>;
  /** Puts a page of rows into the lists of another root. @returns the row to go on after */
  reroot(
    projectId: number,
    part: Relisted,
    rootId: number,
    limit: number,
    after?: string,
  ): Promise<string | undefined>;
}

/** Rows changed together. */
const PAGE = 50;

/**
 * @param deadline milliseconds since 1970; no page begins after it
 * @returns where to go on; undefined at the end
 */
export function settle(deps: Deps, settling: Settling, deadline: number): Promise<Settling | undefined> {
  const { issueUses: uses } = deps.store;
  const kind: SettlingKind = {
    steps: STEPS,
    nextValue: (...used) => uses.nextValue(...used),
    follow: (...following) => follow(deps, ...following),
    reroot: (...rows) => uses.reroot(...rows),
  };
  return settleKind(deps, kind, settling, deadline);
}

/** The same of one kind of records. */
export async function settleKind(
  deps: Deps,
  kind: SettlingKind,
  { projectId, from }: Settling,
  deadline: number,
): Promise<Settling | undefined> {
  const project = await deps.store.projects.get(projectId);
  if (project === undefined || project.deletedAt !== null) return undefined;
  const { steps } = kind;
  for (const step of steps.slice(from === undefined ? 0 : steps.indexOf(from.step))) {
    let after = step === from?.step ? from.after : undefined;
    for (let first = true; first || after !== undefined; first = false) {
      if (Date.now() > deadline)
        return { projectId, from: { step, ...(after === undefined ? {} : { after }) } };
      after =
        step in FACETS
          ? await keepValue(deps, kind, project, step as Kept, after as number | undefined, deadline)
          : await kind.reroot(projectId, step as Relisted, rootOf(project), PAGE, after as string);
    }
  }
  return undefined;
}

/** @param after the value before. @returns the value that was looked at, or the one before where time ran out */
async function keepValue(
  deps: Deps,
  kind: SettlingKind,
  project: ProjectRecord,
  step: Kept,
  after: number | undefined,
  deadline: number,
): Promise<number | undefined> {
  const facet = FACETS[step];
  const valueId = await kind.nextValue(project.id, facet, after);
  if (valueId === undefined) return undefined;
  const value = await deps.store[step].get(valueId);
  const containers = withAbove({ project, level: 0 });
  if (value === undefined || containers.some((container) => sameContainer(container, value.container)))
    return valueId;
  const successorId = isCopied(value) ? await ownOf(deps, project, containers, value) : null;
  if (successorId === undefined) return valueId;
  const following = { facet, valueId, kind: 'project', id: project.id, successorId } as const;
  const rest = await kind.follow(following, deadline);
  // The rows that are left are found again.
  return rest === undefined ? valueId : (after ?? 0);
}

/** Epics and iterations are of groups only. */
const isCopied = (
  value: LabelRecord | MilestoneRecord | EpicRecord | IterationRecord,
): value is LabelRecord | MilestoneRecord => 'color' in value || ('state' in value && !('rootId' in value));

/** The value of the same title that the project has or inherits, or a copy. @returns undefined above the limit */
async function ownOf(
  deps: Deps,
  project: ProjectRecord,
  containers: readonly Container[],
  value: LabelRecord | MilestoneRecord,
): Promise<number | undefined> {
  const { labels, milestones } = deps.store;
  const find = async () => {
    if (!('color' in value)) return (await milestones.titled(containers, value.title))[0];
    const [id] = await labels.idsOf(containers, [value.title]);
    if (id !== undefined) await passPriority(deps, project, value, id);
    return id;
  };
  const present = await find();
  if (present !== undefined) return present;
  const at = deps.now().toISOString();
  const copied = {
    container: { kind: 'project', id: project.id },
    createdAt: at,
    updatedAt: at,
    version: 1,
  } as const;
  const inherited = above({ project, level: 0 });
  try {
    if ('color' in value) {
      const [id, [priority]] = await Promise.all([
        labels.nextId(),
        labels.priorities([{ label: value, projectId: project.id }]),
      ]);
      const { prioritized: _, ...label } = value;
      const copy = { ...label, ...copied, id, priority: priority! };
      await labels.create(copy, inherited);
      return copy.id;
    }
    const copy = { ...value, ...copied, id: await milestones.nextId() };
    return (await milestones.create(copy, inherited)).id;
  } catch (error) {
    if (error instanceof AlreadyExists) return find();
    if (error instanceof LimitReached) return undefined;
    throw error;
  }
}

/** The label that takes the place of another has the priority that the project gave to that, unless it has one there. */
async function passPriority(
  deps: Deps,
  project: ProjectRecord,
  former: LabelRecord,
  successorId: number,
): Promise<void> {
  const { labels } = deps.store;
  const successor = await labels.get(successorId);
  if (successor === undefined) return;
  const projectId = project.id;
  const [given, own] = await labels.priorities([former, successor].map((label) => ({ label, projectId })));
  if (given === null || given === undefined || own !== null) return;
  if (successor.container.kind === 'group') await labels.prioritize(successor, projectId, given);
  else await labels.change(successor, { priority: given }, above({ project, level: 0 }), deps.now());
}
