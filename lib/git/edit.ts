import { Directory } from './edit/directory.ts';
import { EditError, type EditErrorCode } from './edit-errors.ts';
import type { ObjectStore, ObjectType } from './objects.ts';
import type { Oid } from './oid.ts';
import { hashObject, hashObjectInSteps } from './parse.ts';
import { DIRECTORY, type Entry, EXECUTABLE, GITLINK, REGULAR, readTreeBytes, SYMLINK } from './tree/entry.ts';
import { encodePath, type PathProblem, type RawPath, readPath } from './tree/path.ts';
import { inTurns, type Steps } from './work.ts';

/** One change to a tree. Paths are text as {@link decodePath} makes it. */
export type EditAction =
  /** Adds a file, and its parent directories. */
  | {
      readonly action: 'create';
      readonly path: string;
      readonly content: Uint8Array;
      readonly executable?: boolean;
    }
  /** Replaces the content; the mode stays, so a symlink gets a new target. */
  | { readonly action: 'update'; readonly path: string; readonly content: Uint8Array }
  /** Removes a file, and each parent directory that becomes empty. */
  | { readonly action: 'delete'; readonly path: string }
  /** Moves a file with its mode, and with its content unless new content is given. */
  | { readonly action: 'move'; readonly path: string; readonly from: string; readonly content?: Uint8Array }
  | { readonly action: 'chmod'; readonly path: string; readonly executable: boolean };

export interface NewObject {
  readonly type: ObjectType;
  readonly oid: Oid;
  readonly data: Uint8Array;
}

export interface Edited {
  readonly tree: Oid;
  /** Blobs and trees of the new tree that may be new; no id twice. */
  readonly objects: readonly NewObject[];
}

/**
 * Applies actions in order, each to the result of those before it. Reads and writes only the trees along
 * the paths they name.
 *
 * @throws EditError
 */
export async function editTree(
  store: ObjectStore,
  root: Oid,
  actions: readonly EditAction[],
): Promise<Edited> {
  const steps = actions.map(readAction);
  const top = new Directory(root);
  const paths = steps.flatMap((step) => (step.from === undefined ? [step.path] : [step.path, step.from]));
  await store.run((objects) => {
    for (const path of paths) openAlong(top, path, (tree) => readTreeBytes(objects, tree));
  });
  const contents = await inTurns(blobsOf(actions));
  const blobs = new Map<Oid, NewObject>();
  for (const [index, step] of steps.entries()) apply(top, step, index, contents[index], blobs);
  const trees = new Map<Oid, NewObject>();
  const written = top.write((data) => {
    const oid = hashObject('tree', data);
    trees.set(oid, { type: 'tree', oid, data });
    return oid;
  });
  const tree = await inTurns(written);
  return { tree, objects: [...blobs.values(), ...trees.values()] };
}

/** The blobs of new content, by the number of the action. */
function* blobsOf(actions: readonly EditAction[]): Steps<readonly (NewObject | undefined)[]> {
  const blobs: (NewObject | undefined)[] = [];
  for (const action of actions) {
    const data = 'content' in action ? action.content : undefined;
    blobs.push(data && { type: 'blob', oid: yield* hashObjectInSteps('blob', data), data });
    yield;
  }
  return blobs;
}

/** The paths that an edit depends on. If none of them changed, the edit can be applied to another tree. */
export function touchedPaths(actions: readonly EditAction[]): RawPath[] {
  const steps = actions.map(readAction);
  return [
    ...new Set(steps.flatMap((step) => (step.from === undefined ? [step.path] : [step.path, step.from]))),
  ];
}

interface Step {
  readonly action: EditAction;
  readonly path: RawPath;
  readonly from?: RawPath;
}

/** A new path must pass all checks of {@link readPath}; an existing one only has to be found. */
function readAction(action: EditAction, index: number): Step {
  const refuse = (text: string, problem: PathProblem): never => {
    throw new EditError('invalid-path', text, index, problem);
  };
  const newPath = (text: string): RawPath => {
    const read = readPath(text);
    return 'problem' in read ? refuse(text, read.problem) : read.path;
  };
  const existingPath = (text: string): RawPath => {
    const read = readPath(text);
    if ('path' in read) return read.path;
    // Pushes may have added names that this API would not create; they can still be removed.
    const tolerated = ['character', 'git-directory', 'too-long'].includes(read.problem);
    return (tolerated ? encodePath(text) : undefined) ?? refuse(text, read.problem);
  };
  if (action.action === 'move')
    return { action, path: newPath(action.path), from: existingPath(action.from) };
  return { action, path: action.action === 'create' ? newPath(action.path) : existingPath(action.path) };
}

function openAlong(top: Directory, path: RawPath, read: (tree: Oid) => Uint8Array): void {
  let directory = top;
  directory.open(read);
  for (const name of path.split('/').slice(0, -1) as RawPath[]) {
    const below = directory.directory(name);
    if (below === undefined) return;
    below.open(read);
    directory = below;
  }
}

function apply(
  top: Directory,
  step: Step,
  index: number,
  content: NewObject | undefined,
  blobs: Map<Oid, NewObject>,
): void {
  const { action, path } = step;
  const fail = (code: EditErrorCode, text = action.path): never => {
    throw new EditError(code, text, index);
  };
  const blob = (): Oid => {
    blobs.set(content!.oid, content!);
    return content!.oid;
  };
  const file = (at: RawPath, text: string): { directory: Directory; name: RawPath; entry: Entry } => {
    const place = find(top, at);
    const entry = place?.directory.entry(place.name);
    if (!place || !entry || entry.mode === DIRECTORY) return fail('missing', text);
    return { ...place, entry };
  };
  const add = (entry: Entry): void => {
    const place = findCreatingParents(top, path);
    const there = place?.directory.entry(place.name);
    if (there) fail(there.mode === DIRECTORY ? 'directory-exists' : 'exists');
    if (place) place.directory.set(place.name, entry);
    else fail('parent-is-file');
  };

  if (action.action === 'create') {
    add({ mode: action.executable ? EXECUTABLE : REGULAR, oid: blob() });
    return;
  }
  const source = step.from === undefined ? file(path, action.path) : file(step.from, sourceOf(action));
  const { mode, oid } = source.entry;
  if (action.action === 'update') {
    if (mode === GITLINK) fail('not-a-regular-file');
    source.directory.set(source.name, { mode, oid: blob() });
  } else if (action.action === 'chmod') {
    if (mode === GITLINK || mode === SYMLINK) fail('not-a-regular-file');
    source.directory.set(source.name, { mode: action.executable ? EXECUTABLE : REGULAR, oid });
  } else if (action.action === 'delete') {
    remove(top, step.path);
  } else {
    if (mode === GITLINK && action.content) fail('not-a-regular-file', action.from);
    // `a` may move to `a/b`, and `a/b` to `a`: remove the source first, unless source and target are the same.
    if (step.from === path) fail('exists');
    remove(top, step.from!);
    add({ mode, oid: action.content ? blob() : oid });
  }
}

function sourceOf(action: EditAction): string {
  return action.action === 'move' ? action.from : action.path;
}

interface Place {
  readonly directory: Directory;
  readonly name: RawPath;
}

/** The directory and name of the path; undefined when a parent is not a directory. */
function find(top: Directory, path: RawPath): Place | undefined {
  const names = path.split('/') as RawPath[];
  let directory: Directory | undefined = top;
  for (const name of names.slice(0, -1)) {
    directory = directory.directory(name);
    if (directory === undefined) return undefined;
  }
  return { directory, name: names.at(-1)! };
}

/** Like {@link find}, but creates missing parents; undefined when one of them is a file. */
function findCreatingParents(top: Directory, path: RawPath): Place | undefined {
  const names = path.split('/') as RawPath[];
  let directory = top;
  for (const name of names.slice(0, -1)) {
    const below = directory.entry(name) ? directory.directory(name) : directory.make(name);
    if (below === undefined) return undefined;
    directory = below;
  }
  return { directory, name: names.at(-1)! };
}

/** Removes the file, and every parent directory that becomes empty. */
function remove(top: Directory, path: RawPath): void {
  const names = path.split('/') as RawPath[];
  const above: Directory[] = [top];
  for (const name of names.slice(0, -1)) above.push(above.at(-1)!.directory(name)!);
  for (let level = names.length - 1; level >= 0; level--) {
    above[level]!.remove(names[level]!);
    if (!above[level]!.empty) return;
  }
}
