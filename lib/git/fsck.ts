import { CorruptData } from './corrupt-data.ts';
import { isDotGit, isDotGitattributes, isDotGitignore, isDotGitmodules, isDotMailmap } from './dotgit.ts';
import { GitmodulesCheck } from './fsck-gitmodules.ts';
import type { FsckId } from './fsck-ids.ts';
import { checkCommit, checkTag } from './fsck-text.ts';
import { type Oid, oidFromBytes } from './oid.ts';
import { BLOB, COMMIT, TAG, TREE } from './pack/entry.ts';
import { isEntryOf, type SharedTree } from './pack/tree-ends.ts';
import { Effort, type Steps } from './work.ts';

export type FsckLevel = 'error' | 'warn' | 'ignore';

/** Everything not named here is an error, as under `receive.fsckObjects`. */
const LEVELS: Partial<Record<FsckId, FsckLevel>> = {
  // "info" in git: reported, never refused.
  badFilemode: 'warn',
  badTagName: 'warn',
  gitattributesSymlink: 'warn',
  gitignoreSymlink: 'warn',
  gitmodulesParse: 'warn',
  mailmapSymlink: 'warn',
  missingTaggerEntry: 'warn',
  // Old tools wrote these into histories that are still pushed; other hosts accept them too.
  badTimezone: 'warn',
  missingSpaceBeforeDate: 'warn',
  zeroPaddedFilemode: 'warn',
};

/** git ignores `.gitattributes` files that are larger, or have longer lines (gitattributes). */
export const MAX_ATTRIBUTES_BYTES = 100 * 2 ** 20;
const MAX_ATTRIBUTES_LINE = 2048;
/** Steps of {@link Effort} that looking for the end of a line takes. */
const LINE_EFFORT = 20;

export interface FsckFinding {
  readonly oid: Oid;
  readonly id: FsckId;
  readonly message: string;
}

export interface FsckOptions {
  /** As `receive.fsck.<msg-id>`. */
  readonly levels?: Partial<Record<FsckId, FsckLevel>>;
  /** Findings kept per level; the rest are dropped. Default 100. */
  readonly keep?: number;
}

/** Receives what an object refers to: the 20 bytes at `name[at]`, and the type code expected there (0: any). */
export interface LinkSink {
  add(name: Uint8Array, at: number, kind: number): void;
}

/** Checks objects as `git fsck --strict` does, and collects what they refer to, in one pass over each. */
export class Fsck {
  readonly errors: FsckFinding[] = [];
  readonly warnings: FsckFinding[] = [];
  /** Blobs that a tree names `.gitmodules`: pass their content to {@link gitmodules}. */
  readonly gitmodulesBlobs = new Set<Oid>();
  /** Likewise for {@link gitattributes}. */
  readonly gitattributesBlobs = new Set<Oid>();
  readonly #links: LinkSink | undefined;
  readonly #levels: Partial<Record<FsckId, FsckLevel>>;
  readonly #keep: number;
  readonly #off: boolean;
  #name: Uint8Array = new Uint8Array(20);
  #nameAt = 0;
  readonly #report = (id: FsckId, message: string): undefined => this.#found(id, message);
  readonly #link = (hex: string, kind: number): void => this.#links?.add(Buffer.from(hex, 'hex'), 0, kind);

  /** With `off`, reports only objects that cannot be parsed at all. */
  constructor(options: FsckOptions & { readonly off?: boolean } = {}, links?: LinkSink) {
    this.#levels = { ...LEVELS, ...options.levels };
    this.#keep = options.keep ?? 100;
    this.#off = options.off ?? false;
    this.#links = links;
  }

  /**
   * @param name where the object's 20 id bytes are, at `nameAt`
   * @param shared for a tree: the bytes it shares with a tree that was checked already
   */
  check(type: number, data: Buffer, name: Uint8Array, nameAt: number, shared?: SharedTree): void {
    this.#name = name;
    this.#nameAt = nameAt;
    if (type === TREE) this.#tree(data, shared);
    else if (type === COMMIT) checkCommit(data, this.#report, this.#link);
    else if (type === TAG) checkTag(data, this.#report, this.#link);
  }

  /** Checks the content of a blob that a tree names `.gitmodules`; undefined for one too large to be read. */
  *gitmodules(oid: Oid, data: Uint8Array | undefined): Steps<void> {
    this.#name = Buffer.from(oid, 'hex');
    this.#nameAt = 0;
    yield* new GitmodulesCheck(this.#report).check(data);
  }

  /** Checks the content of a blob that a tree names `.gitattributes`; undefined for one too large to be read. */
  *gitattributes(oid: Oid, data: Uint8Array | undefined): Steps<void> {
    this.#name = Buffer.from(oid, 'hex');
    this.#nameAt = 0;
    if (data === undefined || data.length > MAX_ATTRIBUTES_BYTES) {
      this.#found('gitattributesLarge', '.gitattributes too large to parse');
      return;
    }
    const effort = new Effort();
    for (let from = 0; from < data.length; ) {
      if (effort.spend(LINE_EFFORT)) yield;
      const end = data.indexOf(0x0a, from);
      const to = end < 0 ? data.length : end;
      if (to - from >= MAX_ATTRIBUTES_LINE) {
        this.#found('gitattributesLineLength', '.gitattributes has too long lines to parse');
        return;
      }
      from = to + 1;
    }
  }

  #tree(data: Buffer, shared: SharedTree | undefined): undefined {
    const links = this.#links;
    const length = data.length;
    let at = 0;
    let previous = 0;
    let previousEnd = -1;
    let previousDirectory = false;
    // Lengths of file names that a directory of the same name may still follow: `a`, `a.b`, `a/` are in order.
    const files: number[] = [];
    const prefix = shared?.prefix ?? 0;
    let tail = shared?.tail ?? length;
    let boundary = 0;
    let known = false;
    while (at < length) {
      if (at <= prefix) boundary = at;
      if (at >= tail) {
        if (!known && !isEntryOf(shared!.base, boundary, at + shared!.base.length - length)) tail = length;
        else if (!known) known = true;
        // The rest was checked in the base, but not against a new file above it.
        else if (files.length === 0 || (files.length === 1 && !previousDirectory)) return;
      }
      const modeStart = at;
      let byte = data[at++]!;
      if (byte === 0x30) this.#found('zeroPaddedFilemode', 'contains zero-padded file modes');
      let mode = 0;
      while (byte !== 0x20) {
        if (!(byte >= 0x30 && byte <= 0x37) || at - modeStart > 7) return this.#badTree();
        mode = (mode << 3) | (byte - 0x30);
        byte = data[at++]!;
      }
      if (at === modeStart + 1) return this.#badTree();
      const start = at;
      let odd = false;
      let common = 0;
      let same = previousEnd >= 0;
      for (;;) {
        if (at >= length) return this.#badTree();
        byte = data[at]!;
        if (byte === 0) break;
        if (byte === 0x2f || byte === 0x5c || byte === 0x7e) odd = true;
        if (same) {
          if (previous + common < previousEnd && data[previous + common] === byte) common++;
          else same = false;
        }
        at++;
      }
      const end = at++;
      if (end === start || at + 20 > length) return this.#badTree();
      const kind = mode & 0o170000;
      const directory = kind === 0o040000;
      if (at + 20 > prefix && !known) {
        if (kind !== 0o160000 && links) links.add(data, at, directory ? TREE : BLOB);
        if (data[at] === 0 && isNull(data, at))
          this.#found('nullSha1', 'contains entries pointing to null sha1');
      }
      const first = data[start]!;
      if (odd || first === 0x2e || first === 0xe2 || first === 0xef) {
        this.#oddName(data, start, end, odd, mode, at);
      }
      if (mode !== 0o100644 && mode !== 0o040000) this.#mode(mode);

      if (previousEnd >= 0) {
        const left =
          previous + common < previousEnd ? data[previous + common]! : previousDirectory ? 0x2f : 0;
        const right = start + common < end ? data[start + common]! : directory ? 0x2f : 0;
        if (left > right) this.#found('treeNotSorted', 'not properly sorted');
        while (files.length > 0 && files[files.length - 1]! > common) files.pop();
        const repeated = previous + common === previousEnd && start + common === end;
        if (repeated || (directory && files.length > 0 && files[files.length - 1] === end - start)) {
          this.#found('duplicateEntries', 'contains duplicate file entries');
        }
      }
      if (!directory) files.push(end - start);
      previous = start;
      previousEnd = end;
      previousDirectory = directory;
      at += 20;
    }
  }

  #oddName(data: Buffer, start: number, end: number, odd: boolean, mode: number, oidAt: number): void {
    // These two names are in nearly every tree, and no other check applies to them.
    if (!odd && mode === 0o100644 && (end - start === 10 || end - start === 14)) {
      const plain = data.toString('latin1', start, end);
      if (plain === '.gitattributes') this.gitattributesBlobs.add(oidFromBytes(data, oidAt));
      if (plain === '.gitattributes' || plain === '.gitignore') return;
    }
    const name = data.subarray(start, end);
    if (name.includes(0x2f)) this.#found('fullPathname', 'contains full pathnames');
    if (end - start === 1 && name[0] === 0x2e) this.#found('hasDot', "contains '.'");
    if (end - start === 2 && name[0] === 0x2e && name[1] === 0x2e) this.#found('hasDotdot', "contains '..'");
    if (isDotGit(name)) this.#found('hasDotgit', "contains '.git'");
    if (isDotGitmodules(name)) {
      if ((mode & 0o170000) === 0o120000) this.#found('gitmodulesSymlink', '.gitmodules is a symbolic link');
      else if ((mode & 0o170000) === 0o100000) this.gitmodulesBlobs.add(oidFromBytes(data, oidAt));
      else this.#found('gitmodulesBlob', 'non-blob found at .gitmodules');
    }
    const link = (mode & 0o170000) === 0o120000;
    if (isDotGitattributes(name)) {
      if (link) this.#found('gitattributesSymlink', '.gitattributes is a symlink');
      else if ((mode & 0o170000) === 0o100000) this.gitattributesBlobs.add(oidFromBytes(data, oidAt));
      else this.#found('gitattributesBlob', 'non-blob found at .gitattributes');
    }
    if (!link) return;
    if (isDotGitignore(name)) this.#found('gitignoreSymlink', '.gitignore is a symlink');
    if (isDotMailmap(name)) this.#found('mailmapSymlink', '.mailmap is a symlink');
  }

  #mode(mode: number): void {
    if (mode === 0o100755 || mode === 0o120000 || mode === 0o160000) return;
    this.#found('badFilemode', 'contains bad file modes');
  }

  #badTree(): undefined {
    const oid = oidFromBytes(this.#name, this.#nameAt);
    if (this.#off) throw new CorruptData('object-malformed', `tree ${oid} cannot be parsed`);
    this.#found('badTree', 'cannot be parsed as a tree');
  }

  #found(id: FsckId, message: string): undefined {
    if (this.#off) return;
    const level = this.#levels[id] ?? 'error';
    const list = level === 'error' ? this.errors : this.warnings;
    if (level === 'ignore' || list.length >= this.#keep) return;
    const oid = oidFromBytes(this.#name, this.#nameAt);
    const last = list[list.length - 1];
    if (last?.oid === oid && last.id === id) return;
    list.push({ oid, id, message });
  }
}

function isNull(data: Buffer, at: number): boolean {
  for (let i = 0; i < 20; i++) if (data[at + i] !== 0) return false;
  return true;
}
