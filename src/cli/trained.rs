//! Sessions whose final model is put to use.

use std::path::Path;

use super::ending::Refusal;
use atomscope_engine::session::Session;

/// Loads a session that has a final model.
pub(super) fn load_trained(path: &Path) -> Result<Session, Refusal> {
    let session = Session::load(path)?;
    if let Some(damage) = &session.damage {
        return Err(damage.to_string().into());
    }
    let run = session.run.as_ref();
    match run.is_some_and(|run| run.final_model().is_some()) {
        true => Ok(session),
        false => Err(format!(
            "the session holds no final model: train one with `atomscope run {0} --save TRAINED.ron`: {0}",
            path.display()
        )
        .into()),
    }
}
