import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { GIT_ENVIRONMENT, git } from './git.ts';

const COMMITS = 3_000;
const FILES = 4_000;
/** One commit in this many merges a side branch of a few commits. */
const MERGE_EVERY = 12;
const TAG_EVERY = 60;
const FIRST_DATE = 1_500_000_000;

/**
 * Creates a bare repository with the same history on every machine: source-like text in nested folders
 * (4,000 files, some renamed or deleted on the way), 3,000 commits, merges, annotated tags; one pack of about 20 MB.
 */
export function generate(directory: string): string {
  mkdirSync(directory, { recursive: true });
  git(directory, 'init', '--quiet', '--bare', '--initial-branch=main', '.');
  const run = spawnSync('git', ['fast-import', '--quiet'], {
    cwd: directory,
    env: GIT_ENVIRONMENT,
    input: new GeneratedHistory().stream(),
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  if (run.status !== 0) throw new Error('git fast-import failed');
  git(directory, 'repack', '-adfq');
  git(directory, 'pack-refs', '--all');
  return directory;
}

class GeneratedHistory {
  readonly #random = numbers(20);
  readonly #parts: string[] = [];
  readonly #files: { path: string; text: string[] }[] = [];
  /** The changes of the last commits; a merge commit repeats those of both sides. */
  #changed: { path: string; text: string[] }[] = [];
  #mark = 0;

  /** Input for `git fast-import`. */
  stream(): Buffer {
    let tip = this.#commit('refs/heads/main', [], () => {
      for (let i = 0; i < FILES; i++) this.#add(i);
    });
    for (let made = 1; made < COMMITS; made++) {
      if (made % MERGE_EVERY > 0) tip = this.#commit('refs/heads/main', [tip], () => this.#edits());
      else {
        const side = this.#commit('refs/heads/side', [tip], () => this.#edits());
        const main = this.#commit('refs/heads/main', [tip], () => this.#edits());
        tip = this.#commit('refs/heads/main', [main, side], () => this.#restate());
        made += 2;
      }
      if (tip % TAG_EVERY === 0) this.#tag(`v${tip / TAG_EVERY}`, tip);
    }
    return Buffer.from(this.#parts.join(''), 'latin1');
  }

  #commit(branch: string, parents: readonly number[], changes: () => void): number {
    const mark = ++this.#mark;
    const date = `${FIRST_DATE + mark * 3_600} +0000`;
    const person = `Author ${this.#random(40)} <author@example.com>`;
    const message = `${sentence(this.#random, 6)}\n\n${sentence(this.#random, 30)}\n`;
    this.#put(`commit ${branch}\nmark :${mark}\nauthor ${person} ${date}\ncommitter ${person} ${date}\n`);
    this.#put(`data ${message.length}\n${message}`);
    parents.forEach((parent, i) => {
      this.#put(`${i === 0 ? 'from' : 'merge'} :${parent}\n`);
    });
    changes();
    this.#put('\n');
    return mark;
  }

  #add(number: number): void {
    const folders = [`part${number % 12}`, `unit${number % 60}`, `deep${number % 7}`];
    const path = `${folders.slice(0, number % 4).join('/')}${number % 4 > 0 ? '/' : ''}file${number}.ts`;
    const text = Array.from({ length: 40 + this.#random(450) }, () => sentence(this.#random, 4));
    this.#files.push({ path, text });
    this.#write(this.#files.at(-1)!);
  }

  #edits(): void {
    this.#changed = this.#changed.slice(-8);
    for (let n = 1 + this.#random(6); n > 0; n--) {
      const file = this.#files[this.#random(this.#files.length)]!;
      const at = this.#random(file.text.length);
      const added = Array.from({ length: 1 + this.#random(12) }, () => sentence(this.#random, 4));
      file.text.splice(at, this.#random(8), ...added);
      if (this.#random(40) === 0) {
        this.#put(`D ${file.path}\n`);
        file.path = file.path.replace(/(?:-\d+)?\.ts$/, `-${this.#mark}.ts`);
      }
      this.#write(file);
      this.#changed.push(file);
    }
  }

  #restate(): void {
    for (const file of this.#changed) this.#write(file);
  }

  #write({ path, text }: { path: string; text: readonly string[] }): void {
    const data = `${text.join('\n')}\n`;
    this.#put(`M 100644 inline ${path}\ndata ${data.length}\n${data}\n`);
  }

  #tag(name: string, commit: number): void {
    const message = `Release ${name}\n`;
    this.#put(
      `tag ${name}\nfrom :${commit}\ntagger A <a@example.com> ${FIRST_DATE + commit * 3_600} +0000\n` +
        `data ${message.length}\n${message}\n`,
    );
  }

  #put(text: string): void {
    this.#parts.push(text);
  }
}

/** Words with uneven frequencies, as in real text. */
function sentence(random: (below: number) => number, length: number): string {
  let text = '';
  for (let i = 0; i < length; i++) text += `${i === 0 ? '' : ' '}w${random(1 + random(60_000)).toString(36)}`;
  return text;
}

/** Deterministic pseudo-random numbers (mulberry32). */
export function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
