/** Why a write was refused. Apart from the code of writes, which is loaded when one is made. */

import type { FsckFinding } from './fsck.ts';
import type { PathProblem } from './tree/path.ts';

export type EditErrorCode =
  /** create or move: a file already exists there */
  | 'exists'
  /** create or move: a directory already exists there */
  | 'directory-exists'
  /** update, delete or move: there is no such file */
  | 'missing'
  /** a parent of the path is a file */
  | 'parent-is-file'
  /** the content of a submodule, or the mode of a symlink or submodule, cannot be set */
  | 'not-a-regular-file'
  | 'invalid-path';

/** Why an edit was refused; nothing was changed. */
export class EditError extends Error {
  readonly code: EditErrorCode;
  readonly path: string;
  /** Index of the action. */
  readonly index: number;
  /** For `invalid-path`. */
  readonly problem: PathProblem | undefined;
  constructor(code: EditErrorCode, path: string, index: number, problem?: PathProblem) {
    super(`action ${index}: ${problem ?? code}: ${JSON.stringify(path)}`);
    this.name = 'EditError';
    this.code = code;
    this.path = path;
    this.index = index;
    this.problem = problem;
  }
}

/** The actions leave the tree as it was. */
export class NothingToCommit extends Error {
  constructor() {
    super('the actions change nothing');
    this.name = 'NothingToCommit';
  }
}

/** The new objects would fail the checks of a push: a malicious `.gitmodules`, an impossible time zone. */
export class UnsoundObjects extends Error {
  readonly findings: readonly FsckFinding[];
  constructor(findings: readonly FsckFinding[]) {
    super(findings.map(({ oid, id, message }) => `object ${oid}: ${id}: ${message}`).join('\n'));
    this.name = 'UnsoundObjects';
    this.findings = findings;
  }
}
