//! Tokens: making, listing, revoking, rotating.

use wire::Millis;
use wire::api::{RotateBody, TokenBody, TokenGiven, TokenList, TokenView};

use crate::call::Call;
use crate::client::Client;
use worker::Error;

impl Client {
    /// Makes a token. Not repeated by itself: a repeat would make a second one that nobody knows of.
    pub async fn create_token(&self, body: &TokenBody) -> Result<TokenGiven, Error> {
        self.json(Call::post(self.at(["tokens"]), body)?).await
    }

    pub async fn tokens(&self) -> Result<TokenList, Error> {
        self.json(Call::get(self.at(["tokens"]))).await
    }

    pub async fn revoke_token(&self, id: &str) -> Result<TokenView, Error> {
        self.json(Call::delete(self.at(["tokens", id]))).await
    }

    /// A new token with the same rights; the old one stays good for a while.
    pub async fn rotate_token(&self, id: &str, grace: Option<Millis>) -> Result<TokenGiven, Error> {
        self.json(Call::post(self.at(["tokens", id, "rotate"]), &RotateBody { grace })?).await
    }
}
