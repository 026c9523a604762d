# The Git front: pushes and fetches of any size, streamed, over the table and bucket of a deployed instance.
# See local/front.ts for its environment and docs/large-pushes.md for when it is worth its cost.
FROM public.ecr.aws/docker/library/node:24-slim
WORKDIR /app
COPY package.json package-lock.json ./
COPY local/aws/package.json local/aws/
# What has native parts or scripts belongs to the embedded host, which does not run here.
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force
COPY functions functions
COPY lib lib
COPY local local
ENV NODE_ENV=production PORT=8080
# As in functions: lib/store/malloc.ts.
ENV MALLOC_MMAP_THRESHOLD_=65536 MALLOC_ARENA_MAX=1
USER node
EXPOSE 8080
CMD ["node", "local/front.ts"]
