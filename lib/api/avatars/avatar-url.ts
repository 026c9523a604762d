import type { AvatarRecord } from '../../records/avatars.ts';
import type { Subject } from '../../records/subject.ts';

/** URL of an avatar; null when there is none. */
export const avatarUrl = (
  kind: Subject['kind'] | 'projects/topic',
  { id, avatar }: { readonly id: number; readonly avatar?: AvatarRecord | null | undefined },
  baseUrl: string,
): string | null =>
  avatar == null ? null : `${baseUrl}/uploads/-/system/${kind}/avatar/${id}/${avatar.filename}`;
