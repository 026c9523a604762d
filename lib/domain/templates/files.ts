/** Small files to begin a project with. Ignore files are those of github/gitignore; the others are our own. */

export interface FileTemplate {
  readonly name: string;
  readonly content: string;
}

const lines = (...text: string[]): string => `${text.join('\n')}\n`;
const named = (files: Readonly<Record<string, string>>): readonly FileTemplate[] =>
  Object.entries(files).map(([name, content]) => ({ name, content }));

const dockerfiles = named({
  Golang: lines(
    'FROM golang:1 AS build',
    'WORKDIR /src',
    'COPY go.mod go.sum ./',
    'RUN go mod download',
    'COPY . .',
    'RUN CGO_ENABLED=0 go build -o /app .',
    '',
    'FROM scratch',
    'COPY --from=build /app /app',
    'ENTRYPOINT ["/app"]',
  ),
  Node: lines(
    'FROM node:lts',
    'WORKDIR /app',
    'COPY package.json package-lock.json ./',
    'RUN npm ci --omit=dev',
    'COPY . .',
    'USER node',
    'CMD ["npm", "start"]',
  ),
  Python: lines(
    'FROM python:3',
    'WORKDIR /app',
    'COPY requirements.txt ./',
    'RUN pip install --no-cache-dir -r requirements.txt',
    'COPY . .',
    'CMD ["python", "main.py"]',
  ),
});

/** Pipelines, which configurations may include too. */
export const PIPELINE_TEMPLATES = named({
  Bash: lines('image: busybox:latest', '', 'test:', '  script:', '    - ./test.sh'),
  Go: lines('image: golang:1', '', 'test:', '  script:', '    - go vet ./...', '    - go test ./...'),
  Nodejs: lines('image: node:lts', '', 'test:', '  script:', '    - npm ci', '    - npm test'),
  Python: lines(
    'image: python:3',
    '',
    'test:',
    '  script:',
    '    - pip install -r requirements.txt',
    '    - python -m pytest',
  ),
});

/** By the name that the interface gives to each kind. Ignore files are many, and read when they are first asked for. */
const FILE_TEMPLATES = {
  gitignores: async () => (await import('./gitignores.json', { with: { type: 'json' } })).default,
  dockerfiles: async () => dockerfiles,
  gitlab_ci_ymls: async () => PIPELINE_TEMPLATES,
  ci_ymls: async () => PIPELINE_TEMPLATES,
} as const satisfies Readonly<Record<string, () => Promise<readonly FileTemplate[]>>>;

export type FileTemplateKind = keyof typeof FILE_TEMPLATES;

/** All of one kind, by name. */
export const fileTemplates = (kind: FileTemplateKind): Promise<readonly FileTemplate[]> =>
  FILE_TEMPLATES[kind]();
