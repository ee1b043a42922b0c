//! A block of fields, which may come in several frames.

use super::super::bounds::{Farewell, MOST_FIELDS_BYTES};
use super::super::frame::{END_HEADERS, END_STREAM, FrameHead};

/// What its first frame says of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockHead {
    pub(super) stream: u32,
    /// Whether the message ends with it.
    pub(super) ends: bool,
    /// Whether no message begins so, whatever its fields are.
    pub(super) is_malformed: bool,
}

impl BlockHead {
    /// Of this frame.
    pub(super) fn of(head: FrameHead, content: &[u8]) -> Self {
        let is_malformed = head.is_own_parent(content);
        Self { stream: head.stream, ends: head.has(END_STREAM), is_malformed }
    }
}

/// The block that has begun, if one has.
#[derive(Debug, Default)]
pub(super) struct OpenBlock {
    head: Option<BlockHead>,
    fragments: Vec<u8>,
}

impl OpenBlock {
    /// Whether one has begun: nothing else may come then.
    pub(super) fn has_begun(&self) -> bool {
        self.head.is_some()
    }

    /// Begins one with these bytes.
    pub(super) fn begin(&mut self, head: BlockHead, fields: &[u8]) {
        self.head = Some(head);
        self.fragments.clear();
        self.fragments.extend_from_slice(fields);
    }

    /// Another frame of it came; the whole block, if it is the last one.
    ///
    /// # Errors
    /// The connection has to end.
    pub(super) fn add(
        &mut self,
        frame: FrameHead,
        content: &[u8],
    ) -> Result<Option<(BlockHead, Vec<u8>)>, Farewell> {
        let of_block = self.head.filter(|head| head.stream == frame.stream);
        let head = of_block.ok_or(Farewell::Protocol)?;
        // An empty one is no progress.
        if content.is_empty() || self.fragments.len() + content.len() > MOST_FIELDS_BYTES {
            return Err(Farewell::EnhanceYourCalm);
        }
        self.fragments.extend_from_slice(content);
        if !frame.has(END_HEADERS) {
            return Ok(None);
        }
        self.head = None;
        Ok(Some((head, std::mem::take(&mut self.fragments))))
    }

    /// Bytes of memory that it takes.
    pub(super) fn held_bytes(&self) -> usize {
        self.fragments.capacity()
    }

    /// Gives back what it took for the last one.
    pub(super) fn rest(&mut self) {
        self.fragments = Vec::new();
    }
}
