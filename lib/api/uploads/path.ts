/** The URLs of attached files. */
export interface UploadPath {
  /** Full path of the project, or its id. */
  readonly project: string;
  readonly secret: string;
  /** Decoded. */
  readonly name: string;
}

const BY_PATH = /^\/(.+)\/uploads\/([0-9a-f]{32})\/([^/]+)$/;
const BY_ID = /^\/-\/project\/(\d{1,15})\/uploads\/([0-9a-f]{32})\/([^/]+)$/;

/** Parses `/<full path>/uploads/<secret>/<name>` and `/-/project/<id>/uploads/<secret>/<name>`, percent-encoded. */
export function parseUploadPath(pathname: string): UploadPath | undefined {
  const [, project, secret, name] = BY_ID.exec(pathname) ?? BY_PATH.exec(pathname) ?? [];
  if (project === undefined) return undefined;
  try {
    return {
      project: decodeURIComponent(project),
      secret: secret!,
      name: decodeURIComponent(name!).normalize(),
    };
  } catch {
    return undefined;
  }
}
