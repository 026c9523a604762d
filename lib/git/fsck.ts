import { isDotGit, isDotGitmodules } from './dotgit.ts';
import { GitmodulesCheck } from './fsck-gitmodules.ts';
import { checkCommit, checkTag } from './fsck-text.ts';
import { CorruptData } from './objects.ts';
import { type Oid, oidFromBytes } from './oid.ts';
import { BLOB, COMMIT, TAG, TREE } from './pack/entry.ts';

/** git's own ids (git-fsck, "FSCK MESSAGES"). */
export type FsckId =
  | 'badDate'
  | 'badDateOverflow'
  | 'badEmail'
  | 'badFilemode'
  | 'badName'
  | 'badObjectSha1'
  | 'badParentSha1'
  | 'badTagName'
  | 'badTimezone'
  | 'badTree'
  | 'badTreeSha1'
  | 'badType'
  | 'duplicateEntries'
  | 'emptyName'
  | 'fullPathname'
  | 'gitmodulesBlob'
  | 'gitmodulesLarge'
  | 'gitmodulesName'
  | 'gitmodulesParse'
  | 'gitmodulesPath'
  | 'gitmodulesSymlink'
  | 'gitmodulesUpdate'
  | 'gitmodulesUrl'
  | 'hasDot'
  | 'hasDotdot'
  | 'hasDotgit'
  | 'missingAuthor'
  | 'missingCommitter'
  | 'missingEmail'
  | 'missingNameBeforeEmail'
  | 'missingObject'
  | 'missingSpaceBeforeDate'
  | 'missingSpaceBeforeEmail'
  | 'missingTag'
  | 'missingTagEntry'
  | 'missingTaggerEntry'
  | 'missingTree'
  | 'missingType'
  | 'missingTypeEntry'
  | 'multipleAuthors'
  | 'nulInCommit'
  | 'nulInHeader'
  | 'nullSha1'
  | 'treeNotSorted'
  | 'unterminatedHeader'
  | 'zeroPaddedDate'
  | 'zeroPaddedFilemode';

export type FsckLevel = 'error' | 'warn' | 'ignore';

/** Everything not named here is an error, as under `receive.fsckObjects`. */
const LEVELS: Partial<Record<FsckId, FsckLevel>> = {
  // "info" in git: told, never refused.
  badFilemode: 'warn',
  badTagName: 'warn',
  gitmodulesParse: 'warn',
  missingTaggerEntry: 'warn',
  // Old tools wrote these into histories that people still push; hosts let them pass.
  badTimezone: 'warn',
  missingSpaceBeforeDate: 'warn',
  zeroPaddedFilemode: 'warn',
};

export interface FsckFinding {
  readonly oid: Oid;
  readonly id: FsckId;
  readonly message: string;
}

export interface FsckOptions {
  /** As `receive.fsck.<msg-id>`. */
  readonly levels?: Partial<Record<FsckId, FsckLevel>>;
  /** Findings kept of each level; the rest are counted by nobody. Default 100. */
  readonly keep?: number;
}

/** Takes what an object refers to: the 20 bytes at `name[at]`, and the type code expected there (0: any). */
export interface LinkSink {
  add(name: Uint8Array, at: number, kind: number): void;
}

/** Checks objects as `git fsck --strict` does, and collects what they refer to, in one pass over each. */
export class Fsck {
  readonly errors: FsckFinding[] = [];
  readonly warnings: FsckFinding[] = [];
  /** Blobs that trees call `.gitmodules`: their content is for {@link gitmodules}. */
  readonly gitmodulesBlobs = new Set<Oid>();
  readonly #links: LinkSink | undefined;
  readonly #levels: Partial<Record<FsckId, FsckLevel>>;
  readonly #keep: number;
  readonly #off: boolean;
  #name: Uint8Array = new Uint8Array(20);
  #nameAt = 0;
  readonly #report = (id: FsckId, message: string): void => this.#found(id, message);
  readonly #link = (hex: string, kind: number): void => this.#links?.add(Buffer.from(hex, 'hex'), 0, kind);

  /** With `off`, only what keeps an object from being read at all is found. */
  constructor(options: FsckOptions & { readonly off?: boolean } = {}, links?: LinkSink) {
    this.#levels = { ...LEVELS, ...options.levels };
    this.#keep = options.keep ?? 100;
    this.#off = options.off ?? false;
    this.#links = links;
  }

  /** @param name where the object's 20 id bytes are, at `nameAt` */
  check(type: number, data: Buffer, name: Uint8Array, nameAt: number): void {
    this.#name = name;
    this.#nameAt = nameAt;
    if (type === TREE) this.#tree(data);
    else if (type === COMMIT) checkCommit(data, this.#report, this.#link);
    else if (type === TAG) checkTag(data, this.#report, this.#link);
  }

  /** Checks the content of a blob that a tree calls `.gitmodules`. */
  gitmodules(oid: Oid, data: Uint8Array): void {
    this.#name = Buffer.from(oid, 'hex');
    this.#nameAt = 0;
    new GitmodulesCheck(this.#report).check(data);
  }

  #tree(data: Buffer): void {
    const links = this.#links;
    const length = data.length;
    let at = 0;
    let previous = -1;
    let previousEnd = 0;
    let previousDirectory = false;
    // Files that a later directory of the same name may follow: `a`, `a.b`, `a/` are in order.
    const files: number[] = [];
    while (at < length) {
      if (data[at] === 0x30) this.#found('zeroPaddedFilemode', 'contains zero-padded file modes');
      let mode = 0;
      const modeStart = at;
      let byte = data[at++]!;
      while (byte !== 0x20) {
        if (!(byte >= 0x30 && byte <= 0x37) || at - modeStart > 7) return this.#badTree();
        mode = (mode << 3) | (byte - 0x30);
        byte = data[at++]!;
      }
      if (at === modeStart + 1) return this.#badTree();
      const start = at;
      let odd = false;
      for (;;) {
        byte = data[at]!;
        if (byte === 0) break;
        if (byte === 0x2f || byte === 0x5c) odd = true;
        if (++at >= length) return this.#badTree();
      }
      const end = at++;
      if (at + 20 > length) return this.#badTree();
      const kind = mode & 0o170000;
      const directory = kind === 0o040000;
      if (kind !== 0o160000 && links) links.add(data, at, directory ? TREE : BLOB);

      const first = data[start]!;
      if (
        odd ||
        end === start ||
        first === 0x2e ||
        first === 0x67 ||
        first === 0x47 ||
        first === 0xe2 ||
        first === 0xef
      ) {
        this.#oddName(data, start, end, mode, at);
      }
      if (mode !== 0o100644 && mode !== 0o040000) this.#mode(mode);
      if (data[at] === 0 && data.readUInt32BE(at) === 0 && isNull(data, at)) {
        this.#found('nullSha1', 'contains entries pointing to null sha1');
      }

      if (previous >= 0) {
        const order = compareEntries(data, previous, previousEnd, previousDirectory, start, end, directory);
        if (order > 0) this.#found('treeNotSorted', 'not properly sorted');
        if (order === 0) this.#found('duplicateEntries', 'contains duplicate file entries');
        while (files.length > 0) {
          const fileEnd = files[files.length - 1]!;
          const fileStart = files[files.length - 2]!;
          if (isPrefix(data, fileStart, fileEnd, start, end)) {
            if (fileEnd - fileStart === end - start && order !== 0) {
              this.#found('duplicateEntries', 'contains duplicate file entries');
            }
            break;
          }
          files.length -= 2;
        }
      }
      if (!directory) files.push(start, end);
      previous = start;
      previousEnd = end;
      previousDirectory = directory;
      at += 20;
    }
  }

  #oddName(data: Buffer, start: number, end: number, mode: number, oidAt: number): void {
    const name = data.subarray(start, end);
    if (end === start) this.#found('emptyName', 'contains empty pathname');
    if (name.includes(0x2f)) this.#found('fullPathname', 'contains full pathnames');
    if (end - start === 1 && name[0] === 0x2e) this.#found('hasDot', "contains '.'");
    if (end - start === 2 && name[0] === 0x2e && name[1] === 0x2e) this.#found('hasDotdot', "contains '..'");
    if (isDotGit(name)) this.#found('hasDotgit', "contains '.git'");
    if (isDotGitmodules(name)) {
      if ((mode & 0o170000) === 0o120000) this.#found('gitmodulesSymlink', '.gitmodules is a symbolic link');
      else if ((mode & 0o170000) === 0o100000) this.gitmodulesBlobs.add(oidFromBytes(data, oidAt));
      else this.#found('gitmodulesBlob', 'non-blob found at .gitmodules');
    }
  }

  #mode(mode: number): void {
    if (mode === 0o100755 || mode === 0o120000 || mode === 0o160000) return;
    this.#found('badFilemode', 'contains bad file modes');
  }

  #badTree(): void {
    const oid = oidFromBytes(this.#name, this.#nameAt);
    if (this.#off) throw new CorruptData('object-malformed', `tree ${oid} cannot be parsed`);
    this.#found('badTree', 'cannot be parsed as a tree');
  }

  #found(id: FsckId, message: string): void {
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

/** Bytewise, a directory as if its name ended in `/`. @returns 0 only for equal names of equal kind. */
function compareEntries(
  data: Buffer,
  a: number,
  aEnd: number,
  aDirectory: boolean,
  b: number,
  bEnd: number,
  bDirectory: boolean,
): number {
  for (;;) {
    const left = a < aEnd ? data[a]! : a === aEnd && aDirectory ? 0x2f : 0;
    const right = b < bEnd ? data[b]! : b === bEnd && bDirectory ? 0x2f : 0;
    if (left !== right) return left - right;
    if (left === 0 || (a >= aEnd && b >= bEnd)) return 0;
    a++;
    b++;
  }
}

function isPrefix(data: Buffer, a: number, aEnd: number, b: number, bEnd: number): boolean {
  if (aEnd - a > bEnd - b) return false;
  while (a < aEnd) if (data[a++] !== data[b++]) return false;
  return true;
}

function isNull(data: Buffer, at: number): boolean {
  for (let i = 0; i < 20; i++) if (data[at + i] !== 0) return false;
  return true;
}
