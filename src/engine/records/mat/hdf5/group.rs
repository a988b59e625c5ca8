//! Groups of HDF5: names and the addresses of what they stand for.

use super::super::super::text::decode;
use super::super::super::{FilePlace, ReadError};
use super::object::Object;
use super::{Hdf5, number};

/// Most members of a group.
const MAX_MEMBERS: usize = 100_000;
/// Bytes of bookkeeping for a member.
const MEMBER_BYTES: u64 = 128;

impl Hdf5<'_> {
    /// Names and addresses of a group's members; `None` if the object is no group.
    pub(in super::super) fn members(
        &mut self,
        object: &Object,
    ) -> Result<Option<Vec<(String, u64)>>, ReadError> {
        if let Some(table) = object.message(0x11) {
            let addresses = number(&table.data, 0, 8).zip(number(&table.data, 8, 8));
            let Some((tree, heap)) = addresses else {
                return Err(self.refusal(table.at, "symbol table", "cut short", "16 bytes"));
            };
            return self.table_members(tree, heap).map(Some);
        }
        let is_new_group = object.message(0x02).is_some() || object.message(0x0a).is_some();
        let links: Vec<(String, u64)> = object
            .messages
            .iter()
            .filter(|message| message.kind == 0x06)
            .filter_map(|message| parse_link(&message.data))
            .collect();
        if let Some(info) = object.message(0x02)
            && links.is_empty()
            && has_dense_links(&info.data)
        {
            return Err(
                self.unsupported("an HDF5 group with its links in a fractal heap".to_owned())
            );
        }
        Ok((is_new_group || !links.is_empty()).then_some(links))
    }

    fn table_members(&mut self, tree: u64, heap: u64) -> Result<Vec<(String, u64)>, ReadError> {
        let heap = self.local_heap(heap)?;
        let mut members = Vec::new();
        let mut nodes = vec![tree];
        let mut n_nodes = 0;
        while let Some(address) = nodes.pop() {
            n_nodes += 1;
            // A node may name itself as its child.
            let n_known = n_nodes + nodes.len();
            if n_known > MAX_MEMBERS {
                let (at, expected) = (self.place(address)?, format!("at most {MAX_MEMBERS}"));
                return Err(self.refusal(at, "nodes of a group", n_known, expected));
            }
            let head = self.read_address(address, 8)?;
            if head.starts_with(b"TREE") {
                // Key, child, key, child, …; the keys are names and not needed.
                let n_children = number(&head, 6, 2).unwrap_or(0);
                let body = self.read_address(address.saturating_add(24), n_children * 16 + 8)?;
                let child = |k: u64| number(&body, (k * 16 + 8) as usize, 8);
                // Popped from the end: the first child goes last.
                nodes.extend((0..n_children).rev().filter_map(child));
            } else {
                self.symbol_node(address, &head, &heap, &mut members)?;
            }
        }
        Ok(members)
    }

    /// Members listed in a leaf.
    fn symbol_node(
        &mut self,
        address: u64,
        head: &[u8],
        heap: &[u8],
        members: &mut Vec<(String, u64)>,
    ) -> Result<(), ReadError> {
        const ENTRY_BYTES: u64 = 40;
        let at = self.place(address)?;
        if !head.starts_with(b"SNOD") {
            let found = format!("\"{}\"", head.escape_ascii());
            return Err(self.refusal(at, "node of a group", found, "TREE or SNOD"));
        }
        let n_entries = number(head, 6, 2).unwrap_or(0);
        let entries = self.read_address(address.saturating_add(8), n_entries * ENTRY_BYTES)?;
        self.budget
            .spend(n_entries * MEMBER_BYTES, FilePlace::Byte(at), self.findings)?;
        for entry in entries.chunks_exact(ENTRY_BYTES as usize) {
            let name_at = number(entry, 0, 8).and_then(|at| usize::try_from(at).ok());
            let name = name_at.and_then(|at| heap.get(at..)?.split(|&byte| byte == 0).next());
            let (Some(name), Some(address)) = (name, number(entry, 8, 8)) else {
                return Err(self.refusal(at, "name of a member", "outside its heap", "inside"));
            };
            self.budget
                .spend(name.len() as u64, FilePlace::Byte(at), self.findings)?;
            members.push((decode(name), address));
        }
        Ok(())
    }

    /// The bytes that hold the names.
    fn local_heap(&mut self, address: u64) -> Result<Vec<u8>, ReadError> {
        let head = self.read_address(address, 32)?;
        let at = self.place(address)?;
        let (Some(len), Some(data)) = (number(&head, 8, 8), number(&head, 24, 8)) else {
            return Err(self.refusal(at, "local heap", "cut short", "32 bytes"));
        };
        if !head.starts_with(b"HEAP") {
            let found = format!("\"{}\"", head[..4].escape_ascii());
            return Err(self.refusal(at, "local heap", found, "HEAP"));
        }
        self.budget.spend(len, FilePlace::Byte(at), self.findings)?;
        self.read_address(data, len)
    }
}

/// Name and address of a hard link; other links lead out of the file.
fn parse_link(data: &[u8]) -> Option<(String, u64)> {
    let flags = *data.get(1)?;
    let mut at = 2;
    let mut is_hard = true;
    if flags & 0x08 != 0 {
        is_hard = *data.get(at)? == 0;
        at += 1;
    }
    at += if flags & 0x04 != 0 { 8 } else { 0 };
    at += if flags & 0x10 != 0 { 1 } else { 0 };
    let width = 1 << (flags & 3);
    let len = usize::try_from(number(data, at, width)?).ok()?;
    at += width;
    let name = decode(data.get(at..at.checked_add(len)?)?);
    let address = number(data, at + len, 8)?;
    is_hard.then_some((name, address))
}

/// Whether the link info message names a fractal heap.
fn has_dense_links(data: &[u8]) -> bool {
    let order = if data.get(1).is_some_and(|flags| flags & 1 != 0) {
        8
    } else {
        0
    };
    number(data, 2 + order, 8).is_some_and(|heap| heap != super::NOWHERE)
}
