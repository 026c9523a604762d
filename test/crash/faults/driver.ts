import type { Fixtures } from './fixtures.ts';
import { type FaultKind, faultsOf, type Injector, isRead, type Site } from './injector.ts';

/** How a piece of work ended, as its caller was told. */
export type Told =
  | { readonly kind: 'done' }
  /** Nothing was done, in the service's own words. */
  | { readonly kind: 'refused'; readonly words: string }
  /** The service could not say: done or not. */
  | { readonly kind: 'unavailable'; readonly words: string }
  /** Not a way to end. */
  | { readonly kind: 'wrong'; readonly words: string };

/** One piece of work with subjects of its own. */
export interface Work {
  run(): Promise<Told>;
  /** `before`, `after`, or what else was found: then something is lost or half done. */
  state(): Promise<string>;
}

export interface Operation {
  /** An endpoint as the OpenAPI document names it, `git <what>` or `job <what>`. */
  readonly name: string;
  /** Takes so long that only such faults are tried as repeating does not hide: others have shown the repeating. */
  readonly costly?: true;
  /** What it records in the audit is one with what it does: all of it or nothing. */
  readonly records?: true;
  /** Its reads are all that it does: none is left out because another operation has it. */
  readonly reads?: true;
  /** Brings about what the work needs. Nothing befalls this. */
  prepare(fixtures: Fixtures): Promise<Work>;
}

export interface Tried {
  readonly operation: string;
  readonly sites: number;
  readonly runs: number;
  /** How those ended. */
  readonly ends: Readonly<Record<Told['kind'], number>>;
  readonly problems: readonly string[];
}

/** A site is tried with every fault in so many operations of each process; in further ones a read is only down, or left out. */
const ENOUGH = 1;
/** What so many operations met is the same for the next: a read is left out, of a write only what lasts is tried. */
const MANY = 2;
/** Every fault at every site of operations that are not costly: twice the time. */
const EVERY_FAULT = process.env['EVERY_FAULT'] === '1';
/** What befalls a write that other operations have too. */
const LASTING: ReadonlySet<FaultKind> = new Set(['down', 'deaf']);
/** What is not hidden by repeating. */
const HEARD_OF: ReadonlySet<FaultKind> = new Set(['lost answer', 'down', 'deaf', 'conflict']);

/**
 * Runs an operation once to see what it asks of AWS, then once for every such call and everything that may befall it.
 * Whatever its caller is told, it was done or not; what was told to be done is, what was refused is not; what an endpoint
 * did is recorded in the audit as often as without a fault, and what it did not, not; and the next attempt succeeds.
 */
export class Driver {
  readonly #fixtures: Fixtures;
  readonly #injector: Injector;
  readonly #tried = new Map<string, number>();

  constructor(fixtures: Fixtures, injector: Injector) {
    this.#fixtures = fixtures;
    this.#injector = injector;
  }

  /** @param wanted which faults at which sites; all that are possible by default */
  async try(
    operation: Operation,
    wanted: (site: Site, fault: FaultKind) => boolean = () => true,
  ): Promise<Tried> {
    const problems: string[] = [];
    const ends = { done: 0, refused: 0, unavailable: 0, wrong: 0 };
    let runs = 0;

    const work = await operation.prepare(this.#fixtures);
    const before = await work.state();
    if (before !== 'before') problems.push(`begins as ${before}`);
    await this.#newlyAudited(operation);
    let told: Told | undefined;
    const sites = await this.#injector.record(async () => {
      told = await work.run();
    });
    const audited = await this.#newlyAudited(operation);
    if (told!.kind !== 'done') problems.push(`without a fault: ${JSON.stringify(told)}`);
    const after = await work.state();
    if (after !== 'after') problems.push(`without a fault it ends as ${after}`);
    if (problems.length > 0) return { operation: operation.name, sites: sites.length, runs, ends, problems };

    for (const site of sites) {
      for (const fault of this.#faultsOf(site, operation).filter((one) => wanted(site, one))) {
        runs++;
        const [end, found] = await this.#once({ operation, audited }, site, fault);
        ends[end]++;
        const where = site.occurrence > 0 ? `${site.name} (${site.occurrence + 1})` : site.name;
        problems.push(...found.map((problem) => `${fault} at ${where}: ${problem}`));
      }
    }
    for (const name of new Set(sites.map((site) => keyOf(operation, site))))
      this.#tried.set(name, (this.#tried.get(name) ?? 0) + 1);
    return { operation: operation.name, sites: sites.length, runs, ends, problems };
  }

  /** Counts the audit events since the last call, of an operation that promises a number. */
  async #newlyAudited({ records }: Operation): Promise<number> {
    return records ? this.#fixtures.newlyAudited() : 0;
  }

  #faultsOf(site: Site, operation: Operation): readonly FaultKind[] {
    const tried = this.#tried.get(keyOf(operation, site)) ?? 0;
    if (!operation.costly) {
      if (tried < ENOUGH) return faultsOf(site);
      if (isRead(site)) return tried < MANY || EVERY_FAULT ? ['down'] : [];
      const wanted = tried < MANY ? HEARD_OF : LASTING;
      return faultsOf(site).filter((fault) => EVERY_FAULT || wanted.has(fault));
    }
    const seen = tried > 0;
    if (seen && isRead(site)) return [];
    return faultsOf(site).filter((fault) => (seen ? LASTING : HEARD_OF).has(fault));
  }

  /** @param undisturbed with how many events it records without a fault */
  async #once(
    undisturbed: { readonly operation: Operation; readonly audited: number },
    site: Site,
    fault: FaultKind,
  ): Promise<[Told['kind'], string[]]> {
    const problems: string[] = [];
    const work = await undisturbed.operation.prepare(this.#fixtures);
    await this.#newlyAudited(undisturbed.operation);
    let told: Told | undefined;
    await this.#injector.inject(site, fault, async () => {
      told = await work
        .run()
        .catch((error: Error) => ({ kind: 'wrong', words: String(error.stack) }) as const);
    });
    const { kind } = told!;
    const words = 'words' in told! ? told.words : '';
    if (kind === 'wrong') problems.push(`told: ${words}`);
    const audited = await this.#newlyAudited(undisturbed.operation);
    const state = await work.state();
    if (state !== 'before' && state !== 'after') problems.push(`${kind} (${words}), and then ${state}`);
    if (kind === 'done' && state === 'before') problems.push('was told to be done and is not');
    if (kind === 'refused' && state === 'after') problems.push(`was refused (${words}) and is done`);
    // A single transient fault must not reach the caller.
    if (kind === 'refused') problems.push(`was refused: ${words}`);
    const wanted = state === 'after' ? undisturbed.audited : 0;
    if (undisturbed.operation.records && audited !== wanted)
      problems.push(`recorded ${audited} times, where ${state} is ${wanted} times`);
    if (problems.length > 0 || state === 'after') return [kind, problems];
    const again = await work.run();
    if (again.kind !== 'done') problems.push(`the next attempt: ${JSON.stringify(again)}`);
    const then = await work.state();
    if (then !== 'after') problems.push(`after the next attempt: ${then}`);
    return [kind, problems];
  }
}

function keyOf({ costly, reads, name }: Operation, site: Site): string {
  return `${reads ? name : costly ? 'costly' : ''} ${site.name}`;
}
