//===- IntegerProgram.cpp - Mixed integer programs, by CBC ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Regions/IntegerProgram.h"

#include <coin/Cbc_C_Interface.h>

#include <memory>
#include <string>

using namespace tarpon;

namespace {

/// The matrix by columns, as CBC takes it.
struct Columns {
  std::vector<int> starts, rows;
  std::vector<double> factors;
};

} // namespace

void IntegerProgram::addRow(std::vector<Term> terms, double least,
                            double most) {
  rows.push_back({std::move(terms), least, most});
}

template <typename Rows>
static Columns transpose(const Rows &rows, size_t variables) {
  Columns columns;
  columns.starts.resize(variables + 1);
  for (const auto &row : rows)
    for (const IntegerProgram::Term &term : row.terms)
      ++columns.starts[term.variable + 1];
  for (size_t i = 0; i < variables; ++i)
    columns.starts[i + 1] += columns.starts[i];
  columns.rows.resize(columns.starts.back());
  columns.factors.resize(columns.starts.back());
  std::vector<int> next = columns.starts;
  for (size_t row = 0; row < rows.size(); ++row)
    for (const IntegerProgram::Term &term : rows[row].terms) {
      int place = next[term.variable]++;
      columns.rows[place] = static_cast<int>(row);
      columns.factors[place] = term.factor;
    }
  return columns;
}

std::optional<IntegerProgram::Answer> IntegerProgram::minimise() const {
  std::vector<double> lower(variables.size(), 0), upper(variables.size(), 1);
  std::vector<double> costs, least, most;
  for (const Variable &variable : variables)
    costs.push_back(variable.cost);
  for (const Row &row : rows) {
    least.push_back(row.least);
    most.push_back(row.most);
  }
  Columns columns = transpose(rows, variables.size());
  std::unique_ptr<Cbc_Model, void (*)(Cbc_Model *)> model(Cbc_newModel(),
                                                          Cbc_deleteModel);
  Cbc_loadProblem(model.get(), static_cast<int>(variables.size()),
                  static_cast<int>(rows.size()), columns.starts.data(),
                  columns.rows.data(), columns.factors.data(), lower.data(),
                  upper.data(), costs.data(), least.data(), most.data());
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].isBinary)
      Cbc_setInteger(model.get(), static_cast<int>(i));
  Cbc_setParameter(model.get(), "log", "0");
  Cbc_setParameter(model.get(), "ratioGap", std::to_string(kGap).c_str());
  Cbc_setParameter(model.get(), "maxNodes", std::to_string(kMaxNodes).c_str());
  Cbc_solve(model.get());
  const double *values = Cbc_bestSolution(model.get());
  if (!values)
    return std::nullopt;
  return Answer{{values, values + variables.size()},
                Cbc_getBestPossibleObjValue(model.get())};
}
