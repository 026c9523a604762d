import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { ReferenceLink } from '../markdown/html.ts';
import type { Reference } from '../markdown/references.ts';

/** Who reads a text, and where it stands. */
export interface Reading {
  readonly actor: Viewer;
  readonly baseUrl: string;
  /** The project of the text, to which `#1` belongs. */
  readonly project?: ProjectAccess | undefined;
  /** The group of a text that is in none, to which `&1` belongs. */
  readonly group?: GroupAccess | undefined;
}

/** References of one kind in one project, with the project's access. */
export interface Targets<R extends Reference> {
  readonly access: ProjectAccess;
  readonly references: readonly R[];
}

/** Returns the links of references by what was written: of existing things that the reader may see. */
export type Finder<R extends Reference> = (
  deps: Deps,
  targets: readonly Targets<R>[],
  reading: Reading,
) => Promise<ReadonlyMap<string, ReferenceLink>>;
