//! Runs jobs as a shell does: every line by `sh -c`, in a clone of the job's commit, with the files of its dependencies.
//! `small-runner <url> <token of the runner> <folder for builds>`; it ends when it is killed.
use futures::AsyncRead;
use futures::io::AllowStdIo;
use gitlab_runner::artifact::Artifact;
use gitlab_runner::job::{Dependency, Job};
use gitlab_runner::{GitlabLayer, JobHandler, JobResult, Phase, RunnerBuilder, UploadableFile};
use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, BufReader};
use tokio::process::Command;
use tracing_subscriber::prelude::*;

const JOBS_AT_ONCE: usize = 4;
const POLL: Duration = Duration::from_millis(200);
const CLONE: &str = "git clone --quiet \"$CI_REPOSITORY_URL\" . && git checkout --quiet \"$CI_COMMIT_SHA\"";

struct Run {
    job: Job,
    work: PathBuf,
}

impl Run {
    async fn line(&self, line: &str) -> JobResult {
        let variables = self.job.variables().map(|each| (each.key().to_string(), each.value().to_string()));
        let mut child = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{line}")])
            .current_dir(&self.work)
            .envs(variables)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|_| ())?;
        let mut output = BufReader::new(child.stdout.take().ok_or(())?);
        let mut piece = [0; 4096];
        loop {
            match output.read(&mut piece).await {
                Ok(0) | Err(_) => break,
                Ok(size) => self.job.trace(&piece[..size]),
            }
        }
        match child.wait().await {
            Ok(status) if status.success() => Ok(()),
            _ => Err(()),
        }
    }

    /// The archive of an earlier job. The crate opens a file of more than 64 KB without waiting until it is written to its
    /// end, so on a busy machine it may be no archive yet.
    async fn files_of(&self, dependency: &Dependency<'_>) -> Result<Option<Artifact>, ()> {
        let mut tries = 50;
        loop {
            match dependency.download().await {
                Ok(archive) => return Ok(archive),
                Err(error) if tries > 0 && error.to_string().contains("zip") => {
                    tries -= 1;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                Err(error) => {
                    self.job.trace(format!("{error}\n"));
                    return Err(());
                }
            }
        }
    }

    /// Clones the commit, and lays the files beside it that earlier jobs have left.
    async fn prepare(&self) -> JobResult {
        tokio::fs::create_dir(&self.work).await.map_err(|_| ())?;
        self.line(CLONE).await?;
        for dependency in self.job.dependencies() {
            let downloaded = self.files_of(&dependency).await?;
            let Some(mut archive) = downloaded else { continue };
            self.job.trace(format!("files of {}\n", dependency.name()));
            for i in 0..archive.len() {
                let mut file = archive.by_index(i).ok_or(())?;
                let path = self.work.join(file.path().ok_or(())?);
                if file.name().ends_with('/') {
                    continue;
                }
                std::fs::create_dir_all(path.parent().ok_or(())?).map_err(|_| ())?;
                std::io::copy(&mut file, &mut File::create(path).map_err(|_| ())?).map_err(|_| ())?;
            }
        }
        Ok(())
    }
}

/// A file below the folder of the job.
struct Left {
    work: PathBuf,
    name: String,
}

#[async_trait::async_trait]
impl UploadableFile for Left {
    type Data<'a> = Box<dyn AsyncRead + Send + Unpin>;

    fn get_path(&self) -> Cow<'_, str> {
        self.name.as_str().into()
    }

    async fn get_data(&self) -> Result<Self::Data<'_>, ()> {
        let file = File::open(self.work.join(&self.name)).map_err(|_| ())?;
        Ok(Box::new(AllowStdIo::new(file)))
    }
}

fn files_below(work: &Path, folder: &Path, found: &mut Vec<Left>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if entry.file_name() != ".git" {
                files_below(work, &path, found)?;
            }
        } else if let Ok(name) = path.strip_prefix(work) {
            found.push(Left { work: work.to_path_buf(), name: name.to_string_lossy().into_owned() });
        }
    }
    Ok(())
}

#[async_trait::async_trait]
impl JobHandler<Left> for Run {
    async fn step(&mut self, script: &[String], phase: Phase) -> JobResult {
        if phase == Phase::Script {
            self.prepare().await?;
        }
        for line in script {
            self.job.trace(format!("$ {line}\n"));
            self.line(line).await?;
        }
        Ok(())
    }

    async fn get_uploadable_files(&mut self) -> Result<Box<dyn Iterator<Item = Left> + Send>, ()> {
        let mut found = Vec::new();
        files_below(&self.work, &self.work, &mut found).map_err(|_| ())?;
        Ok(Box::new(found.into_iter()))
    }
}

#[tokio::main]
async fn main() {
    let [url, token, folder]: [String; 3] = std::env::args().skip(1).collect::<Vec<_>>().try_into().expect("arguments");
    let (layer, jobs) = GitlabLayer::new();
    // Its warnings are what this service answered and it cannot take.
    let warnings = tracing_subscriber::fmt::Layer::new()
        .with_writer(std::io::stderr)
        .with_filter(tracing_subscriber::filter::LevelFilter::WARN);
    tracing_subscriber::Registry::default().with(warnings).with(layer).init();
    let mut runner = RunnerBuilder::new(url.parse().expect("a URL"), token, &folder, jobs).version("0.3.2").build().await;
    loop {
        runner.wait_for_space(JOBS_AT_ONCE).await;
        let asked = runner
            .request_job(|job| async move {
                let work = job.build_dir().join("work");
                Ok(Run { job, work })
            })
            .await;
        match asked {
            Ok(true) => continue,
            Ok(false) => {}
            // Somebody else was first, which is told by 409: it asks again.
            Err(error) if format!("{error:?}").contains("Status(409") => {}
            Err(error) => eprintln!("no job: {error:?}"),
        }
        tokio::time::sleep(POLL).await;
    }
}
