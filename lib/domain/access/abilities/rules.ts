import type { AccessLevel } from '../../../records/members.ts';

/** Who has an ability without a level, where visibility lets them see the project or group. */
type Reader = 'anyone' | 'signed-in' | 'nobody';

/** What gives an ability in a project. */
export interface ProjectRule {
  /** The minimum access level. */
  readonly level: AccessLevel;
  readonly reader: Reader;
  /** Not given in an archived project, to anyone. */
  readonly writes?: true;
  /**
   * Features the ability belongs to: their settings `<feature>_access_level` keep it to members (`private`) or take it
   * from everyone (`disabled`).
   */
  readonly features?: readonly string[];
  /** `any`: one of the features is enough. Default: all of them are needed. */
  readonly needs?: 'any';
}

/** What gives an ability in a group. */
export interface GroupRule {
  readonly level: AccessLevel;
  readonly reader: Reader;
  /** A setting of the group that changes the level; 61: nobody. Not given while the group waits for its deletion. */
  readonly creation?: {
    readonly setting: string;
    readonly levels: Readonly<Record<string, AccessLevel | 61>>;
  };
}

/** The abilities of a subject, as it states them in a file of this folder. */
export type ProjectRules = Readonly<Record<string, ProjectRule>>;
export type GroupRules = Readonly<Record<string, GroupRule>>;
