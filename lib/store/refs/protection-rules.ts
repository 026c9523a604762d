/** Rules that protect a project's branches, tags and environments: a row per name or pattern, in the project's partition. */

import type { BranchRule, EnvironmentRule, RefRule, RuleLevel, TagRule } from '../../records/refs.ts';
import { AlreadyExists, LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { projectKey } from '../row-keys/projects.ts';
import { RULE, type RuleKind, ruleCountKey, ruleKey, rulePrefix } from '../row-keys/refs.ts';
import type { Counters } from '../table/counters.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Write } from '../table/write.ts';

/**
 * Maximum number of rules of one kind in a project. All are read to check a change of refs, and each ref is matched
 * against all of them.
 */
export const MAX_RULES = 500;

/** What of a branch's rule can be changed. */
export type BranchRuleChange = Partial<
  Pick<BranchRule, 'push' | 'merge' | 'unprotect' | 'allowForcePush' | 'codeOwnerApproval'>
>;

type RuleOf<K extends RuleKind> = Extract<RefRule, { readonly kind: K }>;

export class RefRules {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /** Returns the rules of one kind sorted by name, strongly consistent. */
  async list<K extends RuleKind>(projectId: number, kind: K): Promise<RuleOf<K>[]> {
    return (await this.#read(projectId, rulePrefix(kind))) as RuleOf<K>[];
  }

  /** Returns the rules of branches and tags in one read. */
  async all(projectId: number): Promise<{ branches: BranchRule[]; tags: TagRule[] }> {
    const rules = await this.#read(projectId, RULE);
    return {
      branches: rules.filter((rule) => rule.kind === 'branch'),
      tags: rules.filter((rule) => rule.kind === 'tag'),
    };
  }

  async get<K extends RuleKind>(projectId: number, kind: K, name: string): Promise<RuleOf<K> | undefined> {
    const item = await this.#table.get(ruleKey(projectId, kind, name));
    return item && (fromItem(item) as RuleOf<K>);
  }

  /** Returns those of these environments that are protected, with their rules. */
  async ofEnvironments(
    projectId: number,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, EnvironmentRule>> {
    const keys = names.map((name) => ruleKey(projectId, 'environment', name));
    const found = (await this.#table.batchGet(keys)).filter((item) => item !== undefined);
    return new Map(found.map((item) => [item['name'] as string, fromItem(item) as EnvironmentRule]));
  }

  /** Returns a new id for a branch rule. */
  nextId(): Promise<number> {
    return this.#counters.next('branch-rule');
  }

  /** @throws AlreadyExists, LimitReached beyond {@link MAX_RULES}, Missing when the project is gone */
  async create(rule: RefRule, alongside: readonly Write[] = []): Promise<void> {
    try {
      await this.#table.transact([
        ...addRule(rule, MAX_RULES),
        checkProjectExists(rule.projectId),
        ...alongside,
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('project')) throw new Missing('project');
      if (error.has('rule')) throw new AlreadyExists('rule');
      throw error.has('limit') ? new LimitReached('rules', MAX_RULES) : error;
    }
  }

  /**
   * @returns the rule after the change
   * @throws Missing; Stale when another writer has changed or replaced it meanwhile
   */
  async change(
    rule: BranchRule,
    change: BranchRuleChange,
    now: Date,
    alongside: readonly Write[] = [],
  ): Promise<BranchRule> {
    // The time tells versions apart, so it never stays the same.
    const updatedAt = new Date(Math.max(now.getTime(), Date.parse(rule.updatedAt) + 1)).toISOString();
    const set = { ...change, updatedAt };
    try {
      await this.#table.transact([
        {
          update: ruleKey(rule.projectId, 'branch', rule.name),
          set,
          if: '#id = :id AND #updatedAt = :updatedAt',
          values: { id: rule.id, updatedAt: rule.updatedAt },
          reason: 'rule',
        },
        ...alongside,
      ]);
    } catch (error) {
      throw lost(error);
    }
    return { ...rule, ...set };
  }

  /** @throws Missing; Stale when it has changed since it was read */
  async remove(
    { kind, projectId, name, updatedAt }: RefRule,
    alongside: readonly Write[] = [],
  ): Promise<void> {
    try {
      await this.#table.transact([
        {
          delete: ruleKey(projectId, kind, name),
          if: `${PRESENT} AND #updatedAt = :updatedAt`,
          values: { updatedAt },
          reason: 'rule',
        },
        { update: ruleCountKey(projectId), add: { [kind]: -1 } },
        checkProjectExists(projectId),
        ...alongside,
      ]);
    } catch (error) {
      throw lost(error);
    }
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether rows remain */
  async removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    const { pk, sk } = ruleCountKey(projectId);
    const page = await this.#table.query({ partition: pk, from: RULE, to: sk, limit, only: ['pk', 'sk'] });
    await Promise.all(
      page.items.map((item) => this.#table.delete({ delete: item as { pk: string; sk: string } })),
    );
    return page.next !== undefined;
  }

  async #read(projectId: number, prefix: string): Promise<RefRule[]> {
    const rules: RefRule[] = [];
    for await (const item of this.#table.queryAll({ partition: projectKey(projectId).pk, prefix })) {
      rules.push(fromItem(item));
    }
    return rules;
  }
}

/**
 * Returns the writes that create a rule, for a transaction. It is refused with the reason `rule` when a rule of that
 * name exists, and with `limit` when the project already has `limit` rules of that kind.
 */
export function addRule(rule: RefRule, limit?: number): Write[] {
  return [
    { put: { ...ruleKey(rule.projectId, rule.kind, rule.name), ...rule }, if: ABSENT, reason: 'rule' },
    {
      update: ruleCountKey(rule.projectId),
      add: { [rule.kind]: 1 },
      ...(limit === undefined
        ? {}
        : {
            if: `attribute_not_exists(#${rule.kind}) OR #${rule.kind} < :limit`,
            values: { limit },
            reason: 'limit',
          }),
    },
  ];
}

/** Returns the error for a rule that is missing or has changed since it was read. */
function lost(error: unknown): unknown {
  if (!(error instanceof TransactionRefused)) return error;
  const refusal = error.get('rule');
  return refusal?.item === undefined ? new Missing('rule') : new Stale('rule');
}

function fromItem({ pk: _pk, sk: _sk, w: _stamp, ...rule }: Item): RefRule {
  if (rule['kind'] === 'environment') return rule as unknown as EnvironmentRule;
  const { pushLevel, mergeLevel, createLevel, ...rest } = rule as EarlierLevels;
  // Rows of earlier releases have one level for each action.
  const earlier =
    rest['kind'] === 'tag'
      ? { create: [{ id: 1, level: createLevel }] }
      : {
          push: [{ id: 1, level: pushLevel }],
          merge: [{ id: 2, level: mergeLevel }],
          unprotect: [{ id: 3, level: 40 }],
          codeOwnerApproval: false,
        };
  return { ...earlier, ...rest } as unknown as RefRule;
}

type EarlierLevels = Item & {
  readonly pushLevel?: RuleLevel;
  readonly mergeLevel?: RuleLevel;
  readonly createLevel?: RuleLevel;
};
