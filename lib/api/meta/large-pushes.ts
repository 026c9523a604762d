/** What this deployment's pages say of large pushes: `docs/large-pushes.md` has the three cases. */
import type { StoreEnvironment } from '../../store/environment.ts';

export type PushEnvironment = Pick<StoreEnvironment, 'streamsPushes' | 'gitFrontUrl'>;

/** Base URLs without a trailing slash: the service's own, and the one that clone addresses begin with. */
export interface PushAddresses {
  readonly baseUrl: string;
  readonly cloneRoot: string;
}

/** Lines of plain text. */
export function largePushLines(
  environment: PushEnvironment,
  { baseUrl, cloneRoot }: PushAddresses,
): string[] {
  const { streamsPushes, gitFrontUrl } = environment;
  if (gitFrontUrl !== undefined) {
    return [
      `Pushes of any size work with git alone. They are redirected to ${gitFrontUrl},`,
      'where git asks for credentials again.',
    ];
  }
  if (streamsPushes) return ['Pushes of any size work with git alone.'];
  return [
    'A push of more than about 4.5 MB is refused with HTTP 413. Larger ones need git-remote-lemnos on the PATH:',
    '',
    `  install         curl -fo ~/.local/bin/git-remote-lemnos ${baseUrl}/git-remote-lemnos`,
    '                  chmod +x ~/.local/bin/git-remote-lemnos',
    `  push            git push lemnos::${cloneRoot}/<namespace>/<project>.git`,
  ];
}

/** The same as a paragraph of Markdown. */
export function largePushNote(environment: PushEnvironment, { baseUrl, cloneRoot }: PushAddresses): string {
  const { streamsPushes, gitFrontUrl } = environment;
  if (gitFrontUrl !== undefined) {
    return `A \`git push\` of any size works with git alone. It is redirected to ${gitFrontUrl}, where git asks for credentials again.`;
  }
  if (streamsPushes) return 'A `git push` of any size works with git alone.';
  return `A \`git push\` of more than about 4.5 MB is refused with HTTP 413. For larger ones, put the file [git-remote-lemnos](${baseUrl}/git-remote-lemnos) on the PATH, make it executable, and push to \`lemnos::${cloneRoot}/<namespace>/<project>.git\`.`;
}
