/** Small files to begin a project with. They are our own: no collection of them is published for programs. */

export interface FileTemplate {
  readonly name: string;
  readonly content: string;
}

const lines = (...text: string[]): string => `${text.join('\n')}\n`;
const named = (files: Readonly<Record<string, string>>): readonly FileTemplate[] =>
  Object.entries(files).map(([name, content]) => ({ name, content }));

const gitignores = named({
  C: lines('*.o', '*.a', '*.so', '*.d', '*.out', 'build/'),
  Go: lines('*.exe', '*.test', '*.out', 'vendor/', 'go.work'),
  Java: lines('*.class', '*.jar', '*.war', 'target/', 'build/', '.gradle/', 'hs_err_pid*'),
  Node: lines('node_modules/', 'dist/', 'coverage/', '*.log', '*.tsbuildinfo', '.env', '.npm/'),
  Python: lines('__pycache__/', '*.py[cod]', '.venv/', 'build/', 'dist/', '*.egg-info/', '.pytest_cache/'),
  Ruby: lines('*.gem', '.bundle/', 'vendor/bundle/', 'coverage/', 'tmp/', 'log/'),
  Rust: lines('target/', '**/*.rs.bk'),
  Terraform: lines('.terraform/', '*.tfstate', '*.tfstate.*', 'crash.log', '*.tfvars'),
});

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

const pipelines = named({
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

/** By the name that the interface gives to each kind. */
export const FILE_TEMPLATES = {
  gitignores,
  dockerfiles,
  gitlab_ci_ymls: pipelines,
  ci_ymls: pipelines,
} as const satisfies Readonly<Record<string, readonly FileTemplate[]>>;

export type FileTemplateKind = keyof typeof FILE_TEMPLATES;
