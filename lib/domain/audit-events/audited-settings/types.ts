export type SettingValue = string | number | boolean | null;

/** Audited settings by name, with their defaults. */
export type SettingDefaults = Readonly<Record<string, SettingValue>>;

/** The settings of groups and of projects whose changes are audit events. */
export interface AuditedSettings {
  readonly groups: SettingDefaults;
  readonly projects: SettingDefaults;
}
